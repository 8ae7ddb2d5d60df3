// A matrix times a vector, a thread a row, alpha and beta.
// buffers: A f32 in [M, N], X f32 in [N], Y f32 inout [M]
// sizes: M=300 N=40; M=64 N=16; M=5 N=3
// evo:launch gemv_rows(A, X, Y, f32(2.0), f32(0.25), M, N) grid(ceil_div(M, 128)) block(128)
__global__ void gemv_rows(const float* __restrict__ A, const float* __restrict__ x, float* __restrict__ y, float alpha, float beta,
                          int rows, int cols) {
    for (int r = blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += gridDim.x * blockDim.x) {
        float t = 0.0f;
        for (int c = 0; c < cols; ++c) t += A[r * cols + c] * x[c];
        y[r] = alpha * t + beta * y[r];
    }
}
