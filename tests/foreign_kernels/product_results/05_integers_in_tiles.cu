// buffers: A i32<1000 in [M, K], B i32<1000 in [K, S], C i32 out [M, S]
// sizes: M=16 K=16 S=16; M=32 K=80 S=48; M=160 K=64 S=96
// evo:launch multiply<16>(A, B, C, M, K, S) grid(ceil_div(S, 16), ceil_div(M, 16)) block(16, 16)

// Whole tiles only: threads that return would be missed at the barriers.
template <int TILE>
__global__ void multiply(const int *A, const int *B, int *C, int M, int K, int S)
{
    int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x >= S || y >= M) return;
    __shared__ int a[TILE][TILE];
    __shared__ int b[TILE][TILE];
    int sum = 0;
    for (int p = 0; p < K / TILE; ++p) {
        a[threadIdx.y][threadIdx.x] = A[y * K + p * TILE + threadIdx.x];
        b[threadIdx.y][threadIdx.x] = B[(p * TILE + threadIdx.y) * S + x];
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
        __syncthreads();
    }
    C[y * S + x] = sum;
}
