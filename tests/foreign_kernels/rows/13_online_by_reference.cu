// buffers: X f32 in [R, C], Y f32 out [R, C]
// sizes: R=1 C=1; R=70 C=45; R=300 C=129
// evo:launch online_rows(X, Y, R, C) grid(ceil_div(R, 128)) block(128)

// One more value for a running maximum and the sum that belongs to it.
__device__ void absorb(float& top, float& total, float v)
{
    float next = fmaxf(top, v);
    total = total * __expf(top - next) + __expf(v - next);
    top = next;
}

__global__ void online_rows(const float *x, float *y, int rows, int cols)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float *row = x + r * cols;
    float top = row[0], total = 1.0f;
    for (int c = 1; c < cols; ++c) absorb(top, total, row[c]);
    for (int c = 0; c < cols; ++c) y[r * cols + c] = __expf(row[c] - top) / total;
}
