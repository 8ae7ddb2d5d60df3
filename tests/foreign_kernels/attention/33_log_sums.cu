// Causal, an online softmax a thread; each row leaves the logarithm of its sum for the way back.
// buffers: q f32 in [B, N, 32], k f32 in [B, N, 32], v f32 in [B, N, 32], o f32 out [B, N, 32], lse f32 out [B, N]
// sizes: B=1 N=1; B=2 N=37; B=1 N=130
// evo:launch forward(q, k, v, o, lse, N, f32(0.1767767)) grid(ceil_div(N, 64), B) block(64)

#define D 32

__global__ void forward(const float *q, const float *k, const float *v, float *o, float *lse, int n, float scale)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x, head = blockIdx.y;
    if (row >= n) return;
    float query[D], sum[D];
    for (int i = 0; i < D; i++) { query[i] = q[(head * n + row) * D + i]; sum[i] = 0.f; }
    float m = -INFINITY, l = 0.f;
    for (int j = 0; j <= row; j++) {
        float s = 0.f;
        for (int i = 0; i < D; i++) s += query[i] * k[(head * n + j) * D + i];
        s *= scale;
        float larger = fmaxf(m, s), shrink = __expf(m - larger), weight = __expf(s - larger);
        l = l * shrink + weight;
        for (int i = 0; i < D; i++) sum[i] = sum[i] * shrink + weight * v[(head * n + j) * D + i];
        m = larger;
    }
    for (int i = 0; i < D; i++) o[(head * n + row) * D + i] = sum[i] / l;
    lse[head * n + row] = m + logf(l);
}
