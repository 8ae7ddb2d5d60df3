// buffers: P f32 in [R, C], Q f32 in [R, C], Y f32 out [R]
// sizes: R=1 C=1; R=70 C=45; R=300 C=129
// evo:launch kl_rows(P, Q, Y, R, C) grid(ceil_div(R, 32)) block(32)

// x log(x / y), with 0 for an empty bin.
__device__ inline float relativeEntropy(float x, float y)
{
    if (x <= 0.0f) return 0.0f;
    return x * (logf(x) - y);
}

__global__ void kl_rows(const float* target, const float* logInput, float* divergence, unsigned rows, unsigned bins)
{
    for (unsigned r = blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += gridDim.x * blockDim.x) {
        float d = 0.0f;
        for (unsigned k = 0; k != bins; ++k)
            d += relativeEntropy(target[r * bins + k], logInput[r * bins + k]);
        divergence[r] = d;
    }
}
