// evo:launch bias_gelu(x, bias, y, R, C) grid(ceil_div(R, 64)) block(64)
__device__ float gelu(float v) { return 0.5f * v * (1.0f + erff(v * 0.70710678f)); }

__global__ void bias_gelu(const float* x, const float* bias, float* y, int rows, int cols)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;

    float total = 0.0f, peak = 0.0f;
    for (int c = 0; c < cols; c++)
        total += x[r * cols + c];
    for (int c = 0; c < cols; c++)
        peak = fmaxf(peak, fabsf(x[r * cols + c]));

    peak = fmaxf(peak, 1e-20f);   // never zero
    float mean = total / cols;
    for (int c = 0; c < cols; c++)
        y[r * cols + c] = gelu((x[r * cols + c] - mean) / sqrtf(peak * peak + 1.0f) + bias[c]);
}
