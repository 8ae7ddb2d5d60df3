// Three-dimensional, NCDHW, padding 1.
// buffers: X f32 in [N, C, D, H, W], F f32 in [K, C, 3, 3, 3], Y f32 out [N, K, D, H, W]
// sizes: N=1 C=2 K=3 D=4 H=5 W=11; N=2 C=3 K=2 D=3 H=4 W=6; N=1 C=1 K=1 D=1 H=2 W=3
// evo:launch conv3d(X, F, Y, N, C, K, D, H, W) grid(ceil_div(N * K * D * H * W, 256)) block(256)
__global__ void conv3d(const float* in, const float* w, float* out, int N, int C, int K, int D, int H, int W) {
    long idx = (long)blockIdx.x * blockDim.x + threadIdx.x;
    long total = (long)N * K * D * H * W;
    if (idx >= total) return;
    int ox = idx % W;
    int oy = (idx / W) % H;
    int oz = (idx / (W * H)) % D;
    int k = (idx / ((long)W * H * D)) % K;
    int n = idx / ((long)W * H * D * K);
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int dz = -1; dz <= 1; dz++)
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++) {
                    int z = oz + dz, y = oy + dy, x = ox + dx;
                    if (z < 0 || y < 0 || x < 0 || z >= D || y >= H || x >= W) continue;
                    sum += in[(((n * C + c) * D + z) * H + y) * W + x] *
                           w[(((k * C + c) * 3 + (dz + 1)) * 3 + (dy + 1)) * 3 + (dx + 1)];
                }
    out[idx] = sum;
}
