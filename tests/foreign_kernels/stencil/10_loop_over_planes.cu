// buffers: A f32 in [D, H, W], B f32 out [D, H, W]
// sizes: D=1 H=1 W=1; D=7 H=9 W=30; D=3 H=12 W=140
// evo:launch heat3d(A, B, W, H, D) grid(ceil_div(W, 32), ceil_div(H, 8)) block(32, 8)

// A thread walks through the planes and loads all seven elements in each.
__global__ void heat3d(const float *u, float *v, int nx, int ny, int nz)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || j < 1 || i >= nx - 1 || j >= ny - 1) return;
    int plane = nx * ny;
    for (int k = 1; k < nz - 1; k++) {
        int c = k * plane + j * nx + i;
        v[c] = u[c] + 0.1f * (u[c - 1] + u[c + 1] + u[c - nx] + u[c + nx] + u[c - plane] + u[c + plane] - 6.0f * u[c]);
    }
}
