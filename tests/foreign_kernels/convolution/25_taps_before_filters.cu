// A layer that takes the size of its filters before most others, and knows images by the size of the output.
// buffers: x f32 in [N, C, (P + K - 1), (Q + K - 1)], w f32 in [M, C, K, K], y f32 out [N, M, P, Q]
// sizes: N=1 C=1 K=1 P=4 Q=5 M=2; N=2 C=3 K=3 P=18 Q=11 M=17
// evo:launch forward(C, ceil_div(Q, 16), K, x, w, y, P, Q) grid(M, ceil_div(Q, 16) * ceil_div(P, 16), N) block(16, 16)

#define TILE 16

__global__ void forward(int C, int tiles, int K, const float *x, const float *w, float *y, int rows, int columns)
{
    int m = blockIdx.x, n = blockIdx.z;
    int r = blockIdx.y / tiles * TILE + threadIdx.y;
    int q = blockIdx.y % tiles * TILE + threadIdx.x;
    float sum = 0.0f;
    if (r < rows && q < columns) {
        for (int c = 0; c < C; c++)
            for (int i = 0; i < K; i++)
                for (int j = 0; j < K; j++)
                    sum += x[((n * C + c) * (rows + K - 1) + r + i) * (columns + K - 1) + q + j] * w[((m * C + c) * K + i) * K + j];
        y[((n * gridDim.x + m) * rows + r) * columns + q] = sum;
    }
}
