// Two halves a load by hand, sums in float, unsigned indices.
// buffers: A f16 in [M, K], B f16 in [N, K], C f16 out [M, N]
// sizes: M=33 N=24 K=40; M=8 N=72 K=16; M=2 N=3 K=2
#include <cuda_fp16.h>

// evo:launch hgemm_nt(A, B, C, u32(M), u32(N), u32(K)) grid(ceil_div(M, 16), ceil_div(N, 16)) block(16, 16)
__global__ void hgemm_nt(const __half* A, const __half* B, __half* C, unsigned int M, unsigned int N, unsigned int K) {
    const unsigned int m = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned int n = blockIdx.y * blockDim.y + threadIdx.y;
    if (m < M && n < N) {
        const __half2* a2 = reinterpret_cast<const __half2*>(A + m * K);
        const __half2* b2 = reinterpret_cast<const __half2*>(B + n * K);
        float acc = 0.0f;
        for (unsigned int k = 0; k < K / 2; k++) {
            const float2 a = __half22float2(a2[k]);
            const float2 b = __half22float2(b2[k]);
            acc += a.x * b.x;
            acc += a.y * b.y;
        }
        C[m * N + n] = __float2half(acc);
    }
}
