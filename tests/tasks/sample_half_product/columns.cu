// The same buffers read by columns: Z = X * Y with X = B', Y = A', Z = C'.
// evo:launch hgemm_nn(B, A, C, N, M, K, N, K, N) grid(ceil_div(N, 32), ceil_div(M, 8)) block(32, 8)
#include <cuda_fp16.h>

__global__ void hgemm_nn(const half *x, const half *y, half *z, unsigned m, unsigned n, unsigned k, int ldx, int ldy, int ldz)
{
    const unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
    const unsigned j = threadIdx.y + blockIdx.y * blockDim.y;
    if (i < m && j < n)
    {
        float acc = 0.f;
        for (unsigned l = 0; l < k; l++)
        {
            const half left = __ldg(&x[i + l * ldx]);
            acc = fmaf(__half2float(left), __half2float(y[l + j * ldy]), acc);
        }
        z[i + j * ldz] = __float2half(acc);
    }
}
