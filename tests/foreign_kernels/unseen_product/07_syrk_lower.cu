// A product with its own transpose: the lower half only, divided by the number of samples (a covariance).
// buffers: X f32 in [S, D], C f32 inout [D, D]
// sizes: S=40 D=33; S=16 D=64; S=3 D=5
// evo:launch covariance(X, C, S, D) grid(ceil_div(D, 16), ceil_div(D, 8)) block(16, 8)
__global__ void covariance(const float* __restrict__ samples, float* __restrict__ cov, unsigned num_samples, unsigned dims)
{
    unsigned j = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned i = blockIdx.y * blockDim.y + threadIdx.y;

    if (i < dims && j < dims && j <= i)
    {
        float s = 0.0f;
        for (unsigned n = 0; n < num_samples; ++n)
        {
            s += samples[n * dims + i] * samples[n * dims + j];
        }
        cov[i * dims + j] = s / (float)(num_samples - 1);
    }
}
