// evo:launch bias_gelu_warp(x, bias, y, C) grid(R) block(32)
// One block of one warp per row
__global__ void bias_gelu_warp(const float* x, const float* bias, float* y, int cols)
{
    __shared__ float totals[32];
    __shared__ float peaks[32];
    const float* in = x + blockIdx.x * cols;
    int t = threadIdx.x;

    float total = 0.0f;
    float peak = 0.0f;
    for (int c = t; c < cols; c += 32) {
        total += in[c];
        peak = fmaxf(peak, fabsf(in[c]));
    }
    totals[t] = total;
    peaks[t] = peak;
    __syncthreads();
    for (int s = 16; s > 0; s >>= 1) {
        if (t < s) totals[t] += totals[t + s];
        __syncthreads();
    }
    for (int s = 16; s > 0; s >>= 1) {
        if (t < s) peaks[t] = fmaxf(peaks[t], peaks[t + s]);
        __syncthreads();
    }
    float mean = totals[0] / cols;
    float scale = sqrtf(peaks[0] * peaks[0] + 1.0f);
    for (int c = t; c < cols; c += 32) {
        float v = (in[c] - mean) / scale + bias[c];
        y[blockIdx.x * cols + c] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
    }
}
