// buffers: U f32 in [N, M], V f32 in [N, M], U2 f32 out [N, M], V2 f32 out [N, M]
// sizes: N=1 M=1; N=13 M=12; N=40 M=130
// evo:launch grayscott_kernel(U, V, U2, V2, M, N) grid(ceil_div(M, 16), ceil_div(N, 16)) block(16, 16)

#define Du 0.16f
#define Dv 0.08f
#define FEED 0.035f
#define KILL 0.065f
#define LAPL(A, c, w) (A[(c) - 1] + A[(c) + 1] + A[(c) - (w)] + A[(c) + (w)] - 4.0f * A[c])

__global__ void grayscott_kernel(const float *u, const float *v, float *unew, float *vnew, int w, int h)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;

    if (row >= 1 && row <= h - 2 && col >= 1 && col <= w - 2) {
        int c = row * w + col;
        float uvv = u[c] * v[c] * v[c];
        unew[c] = u[c] + Du * LAPL(u, c, w) - uvv + FEED * (1.0f - u[c]);
        vnew[c] = v[c] + Dv * LAPL(v, c, w) + uvv - (FEED + KILL) * v[c];
    }
}
