// buffers: A f32 in [H, W], B f32 out [H, W]
// sizes: H=1 W=1; H=13 W=12; H=40 W=130
// evo:launch diffuse(A, B, W, H) grid(ceil_div(W, 32), ceil_div(H, 8)) block(32, 8)
#define CX (0.1f)
#define CY -0.3f
#define CXY 0.05f + 0.1f
#define CC (1.0f - 2.0f * CX - 2.0f * CY)

__global__ void diffuse(const float *in, float *out, int nx, int ny)
{
    int ix = blockIdx.x * blockDim.x + threadIdx.x;
    int iy = blockIdx.y * blockDim.y + threadIdx.y;
    if (ix >= nx || iy >= ny) return;
    int c = iy * nx + ix;
    if (ix == 0 || iy == 0 || ix == nx - 1 || iy == ny - 1) {
        out[c] = in[c];
        return;
    }
    float sum = CC * in[c] + CX * (in[c - 1] + in[c + 1]) - (CY) * (in[c - nx] + in[c + nx]);
    out[c] = fmaf(CXY, in[c - nx - 1] + in[c - nx + 1] + in[c + nx - 1] + in[c + nx + 1], sum);
}
