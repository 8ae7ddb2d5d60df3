// Complex numbers as float2.
// buffers: A f32 in [M, K, 2], B f32 in [K, N, 2], C f32 out [M, N, 2]
// sizes: M=17 N=21 K=20; M=16 N=32 K=8; M=3 N=2 K=1
// evo:launch cgemm(A, B, C, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__device__ float2 cmul(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

__global__ void cgemm(const float2* A, const float2* B, float2* C, int M, int N, int K) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N) return;
    float2 sum = make_float2(0.0f, 0.0f);
    for (int k = 0; k < K; k++) {
        float2 p = cmul(A[row * K + k], B[k * N + col]);
        sum.x += p.x;
        sum.y += p.y;
    }
    C[row * N + col] = sum;
}
