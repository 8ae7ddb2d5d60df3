// buffers: X f32 in [N], Y f32 out [(N + 127) / 128]
// sizes: N=1; N=700; N=9001
// evo:launch find_peak(X, Y, N) grid(ceil_div(N, 128)) block(128) shared(128 * 4)
#include <cfloat>

__global__ void find_peak(const float *samples, float *peaks, int n)
{
    extern __shared__ float best[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (i < n) best[t] = samples[i];
    else best[t] = -FLT_MAX;
    __syncthreads();
    for (int half = blockDim.x >> 1; half > 0; half >>= 1) {
        if (t < half && best[t + half] > best[t]) best[t] = best[t + half];
        __syncthreads();
    }
    if (t == 0) peaks[blockIdx.x] = best[0];
}
