// buffers: X f32 in [R, C], Y f32 out [R, C]
// sizes: R=1 C=1; R=70 C=45; R=300 C=129
// evo:launch min_max_scale(X, Y, R, C) grid(ceil_div(R, 128)) block(128)

// Rows by a grid-stride loop, whatever the grid.
__global__ void min_max_scale(const float *a, float *b, int rows, int cols)
{
    for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += gridDim.x * blockDim.x)
    {
        float lo = a[row * cols], hi = a[row * cols];
        for (int c = 1; c < cols; c++)
        {
            float v = a[row * cols + c];
            if (v < lo) lo = v;
            if (v > hi) hi = v;
        }
        float range = hi - lo;
        if (range == 0.0f) range = 1.0f;
        for (int c = 0; c < cols; c++)
            b[row * cols + c] = (a[row * cols + c] - lo) / range;
    }
}
