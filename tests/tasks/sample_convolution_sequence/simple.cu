// evo:launch conv1d_bias_relu(X, F, B, Y, N, C, K, L) grid(ceil_div(N * K * L, 256)) block(256)
#define TAPS 5

__global__ void conv1d_bias_relu(const float *in, const float *weights, const float *bias, float *out, int batch, int in_channels,
                                 int out_channels, int length) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < batch * out_channels * length) {
        int pos = index % length;
        int oc = (index / length) % out_channels;
        int b = index / (length * out_channels);
        float sum = bias[oc];
        for (int ic = 0; ic < in_channels; ic++) {
            for (int k = 0; k < TAPS; k++) {
                int at = pos + k - TAPS / 2;
                if (at >= 0 && at < length) {
                    sum += in[(b * in_channels + ic) * length + at] * weights[(oc * in_channels + ic) * TAPS + k];
                }
            }
        }
        out[index] = fmaxf(sum, 0.0f);
    }
}
