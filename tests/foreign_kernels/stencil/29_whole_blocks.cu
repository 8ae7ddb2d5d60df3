// Heat on a square whose size is a macro, with as many blocks as fit.
// buffers: t f32 in [N, N], next f32 inout [N, N]
// sizes: N=16; N=48; N=144
// evo:size N
// evo:launch heat(t, next, f32(0.1)) grid(N / 16, N / 16) block(16, 16)

#ifndef N
#define N 256
#endif

#define AT(i, j) ((i) * N + (j))

__global__ void heat(const float *t, float *next, float a)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && i < N - 1 && j > 0 && j < N - 1)
        next[AT(i, j)] = t[AT(i, j)] + a * (t[AT(i + 1, j)] + t[AT(i - 1, j)] + t[AT(i, j + 1)] + t[AT(i, j - 1)] - 4.0f * t[AT(i, j)]);
}
