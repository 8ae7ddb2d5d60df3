// buffers: A i32<1000 in [N, N], B i32<1000 in [N, N], C i32 out [N, N]
// sizes: N=16; N=64; N=144
// evo:size N
// evo:launch matmul(A, B, C) grid(N / 16, N / 16) block(16, 16)

#ifndef N
#define N 512
#endif

__global__ void matmul(int *a, int *b, int *c)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    for (int k = 0; k < N; k++) sum += a[row * N + k] * b[k * N + col];
    c[row * N + col] = sum;
}
