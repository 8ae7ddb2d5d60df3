// buffers: X f32 in [N, C, P], M f32 out [C], V f32 out [C]
// sizes: N=1 C=1 P=1; N=3 C=7 P=45; N=5 C=3 P=300
// evo:launch bn_statistics(X, M, V, N, C, P) grid(C) block(256)

// Mean and variance of each channel over all images and pixels: one block for a channel.
__global__ void bn_statistics(const float *x, float *mean, float *var, int N, int C, int HW)
{
    __shared__ float s_sum[256], s_sq[256];
    const int c = blockIdx.x;
    float sum = 0.f, sq = 0.f;
    for (int n = 0; n < N; n++) {
        for (int p = threadIdx.x; p < HW; p += blockDim.x) {
            const float v = x[(n * C + c) * HW + p];
            sum += v;
            sq += v * v;
        }
    }
    s_sum[threadIdx.x] = sum;
    s_sq[threadIdx.x] = sq;
    __syncthreads();
    for (int half = 128; half >= 1; half /= 2) {
        if (threadIdx.x < half) {
            s_sum[threadIdx.x] += s_sum[threadIdx.x + half];
            s_sq[threadIdx.x] += s_sq[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        const float m = s_sum[0] / (N * HW);
        mean[c] = m;
        var[c] = s_sq[0] / (N * HW) - m * m;
    }
}
