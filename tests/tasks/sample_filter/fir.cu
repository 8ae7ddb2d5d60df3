// evo:launch fir(x, taps, y, N, T) grid(ceil_div(N, 512)) block(128)
__global__ void fir(const float *x, const float *taps, float *y, int n, int count)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    float r[4];
    for (int k = 0; k < 4; k++) r[k] = 0.0f;
    for (int k = 0; k < 4; k++) {
        for (int t = 0; t < count; t++) {
            if (first + k < n) r[k] += x[first + k + t] * taps[t];
        }
    }
    for (int k = 0; k < 4; k++) {
        if (first + k < n) y[first + k] = r[k];
    }
}
