// As a BLAS: column-major, A transposed, leading dimensions of size_t, alpha and beta.
// buffers: A f32 in [N, LD], B f32 in [M, LD], C f32 inout [M, N + 3]
// sizes: N=33 M=20 K=40 LD=44; N=16 M=70 K=16 LD=16; N=5 M=3 K=1 LD=2
// evo:launch gemm_tn(i64(N), i64(M), i64(K), f32(0.75), A, i64(LD), B, i64(LD), f32(-0.5), C, i64(N + 3)) \
//   grid(ceil_div(N, 8), ceil_div(M, 32)) block(8, 32)
typedef unsigned long long dim_t;

__global__ void gemm_tn(const dim_t n, const dim_t m, const dim_t k, const float alpha, const float *A, const dim_t lda,
                        const float *B, const dim_t ldb, const float beta, float *C, const dim_t ldc)
{
    const dim_t i = (dim_t)blockIdx.x * blockDim.x + threadIdx.x;
    const dim_t j = (dim_t)blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= m)
        return;

    float dot = 0.0f;
    const float *a = A + i * lda;
    const float *b = B + j * ldb;
    for (dim_t p = 0; p < k; p++)
        dot = fmaf(a[p], b[p], dot);

    C[i + j * ldc] = alpha * dot + beta * C[i + j * ldc];
}
