// A layer of one sample whose filters lie by columns: the outer loop over taps goes along x.
// buffers: x f32 in [C, H, W], f f32 in [M, C, K, K], bias f32 in [M], y f32 out [M, (H - K + 1), (W - K + 1)]
// sizes: C=1 H=4 W=5 K=1 M=2; C=3 H=19 W=22 K=3 M=17
// evo:launch layer(x, f, bias, y, C, M, K, W, H) grid(ceil_div(W - K + 1, 16), ceil_div(H - K + 1, 16), M) block(16, 16)

__global__ void layer(float *x, float *f, float *bias, float *y, int channels, int filters, int taps, int width, int height)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y, m = blockIdx.z;
    if (px < width - taps + 1 && py < height - taps + 1) {
        float sum = 0.0f;
        for (int c = 0; c < channels; ++c)
            for (int i = 0; i < taps; ++i)
                for (int j = 0; j < taps; ++j)
                    sum += x[(c * height + py + j) * width + px + i] * f[((m * channels + c) * taps + i) * taps + j];
        y[(m * (height - taps + 1) + py) * (width - taps + 1) + px] = sum + bias[m];
    }
}
