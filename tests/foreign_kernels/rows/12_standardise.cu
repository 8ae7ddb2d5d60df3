// buffers: X f32 in [R, C], Y f32 out [R, C]
// sizes: R=1 C=2; R=70 C=45; R=300 C=129
// evo:launch zscore(X, Y, R, C) grid(1, ceil_div(R, 64)) block(1, 64)

// The rows are along y.
__global__ void zscore(const float *in, float *out, const int height, const int width)
{
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= height) return;

    float mean = 0.0f;
    for (int x = 0; x < width; ++x)
        mean += in[y * width + x] / width;

    float var = 0.0f;
    for (int x = 0; x < width; ++x)
        var += powf(in[y * width + x] - mean, 2.0f);
    float stddev = sqrtf(var / (width - 1) + 1e-6f);

    for (int x = 0; x < width; ++x)
        out[y * width + x] = (in[y * width + x] - mean) / stddev;
}
