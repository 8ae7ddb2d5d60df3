// evo:launch int8_linear(X, W, bias, scale, Y, M, N, K) grid(ceil_div(M * N, 256)) block(256)
__global__ void int8_linear(const signed char* __restrict__ x, const signed char* __restrict__ w, const float* bias, float scale,
                            float* y, int tokens, int features, int inputs) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < tokens * features) {
        int token = idx / features;
        int feature = idx % features;
        int acc = 0;
        for (int i = 0; i < inputs; i++) {
            acc += (int)x[token * inputs + i] * (int)w[feature * inputs + i];
        }
        float result = acc * scale + bias[feature];
        y[idx] = result;
    }
}
