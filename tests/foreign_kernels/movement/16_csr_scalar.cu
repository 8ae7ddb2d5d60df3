// buffers: RP i32<300 in [N + 1], CI i32<40 in [300], V f32 in [300], X f32 in [40], Y f32 out [N]
// sizes: N=1; N=100; N=300
// evo:launch spmv_csr_scalar(N, RP, CI, V, X, Y) grid(ceil_div(N, 64)) block(64)

__global__ void spmv_csr_scalar(const int num_rows, const int *ptr, const int *indices, const float *data, const float *x, float *y)
{
    int row = blockDim.x * blockIdx.x + threadIdx.x;
    if (row < num_rows) {
        float dot = 0;
        int row_start = ptr[row];
        int row_end = ptr[row + 1];
        for (int jj = row_start; jj < row_end; jj++)
            dot += data[jj] * x[indices[jj]];
        y[row] = dot;
    }
}
