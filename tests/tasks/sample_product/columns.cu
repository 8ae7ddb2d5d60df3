// The same buffers read by columns: Z = X * Y with X = B', Y = A', Z = C'.
// evo:launch gemm_nn(B, A, C, N, M, K, N, K, N) grid(ceil_div(N, 32), ceil_div(M, 8)) block(32, 8)
__global__ void gemm_nn(const float *x, const float *y, float *z, int m, int n, int k, int ldx, int ldy, int ldz)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    int j = threadIdx.y + blockIdx.y * blockDim.y;
    if (i < m && j < n)
    {
        float acc = 0.f;
        for (int l = 0; l < k; l++) acc += x[i + l * ldx] * y[l + j * ldy];
        z[i + j * ldz] = acc;
    }
}
