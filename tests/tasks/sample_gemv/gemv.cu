// evo:launch hgemv(mat, vec, out, N, M) grid(ceil_div(N, 128)) block(128)
#include <cuda_fp16.h>

__global__ void hgemv(const __half *mat, const __half *vec, float *out, int n, int m)
{
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i < n)
    {
        const __half *p = mat + i * m;
        float acc = 0.f;
        for (int j = 0; j < m; ++j)
            acc += __half2float(p[j]) * __half2float(vec[j]);
        out[i] = acc;
    }
}
