// buffers: X f32 in [R, C], Y f32 out [R]
// sizes: R=1 C=1; R=70 C=45; R=300 C=129
// evo:launch logsumexp(X, Y, i64(R), i64(C)) grid(ceil_div(R, 64)) block(64)

__global__ void logsumexp(const float *x, float *y, size_t rows, size_t cols)
{
    const size_t r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    x += r * cols;
    float top = x[0];
    for (size_t k = 1; k < cols; ++k)
        top = fmaxf(top, x[k]);
    float total = 0;
    for (size_t k = 0; k < cols; ++k)
        total += __expf(x[k] - top);
    y[r] = top + logf(total);
}
