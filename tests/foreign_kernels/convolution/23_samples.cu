// A signal and a filter whose length is an argument, with zeros around the signal.
// buffers: signal f32 in [N], filter f32 in [M], result f32 out [N]
// sizes: N=1 M=3; N=300 M=7; N=1000 M=33
// evo:launch convolve(signal, filter, result, M, N) grid(ceil_div(N, 128)) block(128)

__global__ void convolve(const float *signal, const float *filter, float *result, int length, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int start = i - length / 2;
    float sum = 0.0f;
    for (int j = 0; j < length; j++) {
        if (start + j >= 0 && start + j < n) sum += signal[start + j] * filter[j];
    }
    result[i] = sum;
}
