// A layer whose sizes are macros, and macros made of them.
// buffers: x f32 in [N, C, H, H], w f32 in [M, C, K, K], y f32 out [N, M, (H - K + 1), (H - K + 1)]
// sizes: N=1 C=1 H=8 M=2 K=3; N=2 C=5 H=19 M=20 K=5
// evo:size C
// evo:size H
// evo:size M
// evo:size K
// evo:launch layer(x, w, y) grid(ceil_div(H - K + 1, 16), ceil_div(H - K + 1, 16), N * M) block(16, 16)

#ifndef C
#define C 8
#endif

#ifndef H
#define H 32
#endif

#ifndef M
#define M 16
#endif

#ifndef K
#define K 3
#endif

#define OUT (H - K + 1)

__global__ void layer(const float *x, const float *w, float *y)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int n = blockIdx.z / M, m = blockIdx.z % M;
    if (column >= OUT || row >= OUT) return;
    float sum = 0.0f;
    for (int c = 0; c < C; c++)
        for (int i = 0; i < K; i++)
            for (int j = 0; j < K; j++)
                sum += x[((n * C + c) * H + row + i) * H + column + j] * w[((m * C + c) * K + i) * K + j];
    y[((n * M + m) * OUT + row) * OUT + column] = sum;
}
