// buffers: X f32 in [R, C], M f32 out [R], V f32 out [R]
// sizes: R=1 C=2; R=70 C=45; R=300 C=129
// evo:launch welford(X, M, V, R, C) grid(ceil_div(R, 128)) block(128)

// Mean and variance in one pass after Welford.
__global__ void welford(const float *data, float *means, float *variances, int rows, int cols)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float *x = &data[row * cols];
    float mean = 0.0f;
    float m2 = 0.0f;
    int count = 0;
    for (int c = 0; c < cols; ++c) {
        count += 1;
        const float delta = x[c] - mean;
        mean += delta / count;
        m2 += delta * (x[c] - mean);
    }
    means[row] = mean;
    variances[row] = m2 / (count - 1);
}
