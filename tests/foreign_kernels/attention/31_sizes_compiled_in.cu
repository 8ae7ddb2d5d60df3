// A thread a query, all scores of its row in a local array, the sizes as macros.
// buffers: q f32 in [N, D], k f32 in [N, D], v f32 in [N, D], o f32 out [N, D]
// sizes: N=1 D=16; N=37 D=32; N=130 D=64
// evo:size N
// evo:size D
// evo:launch self_attention(q, k, v, o) grid(ceil_div(N, 64)) block(64)

#ifndef N
#define N 256
#endif

#ifndef D
#define D 64
#endif

#define SCALE (1.0f / sqrtf((float)D))

__global__ void self_attention(const float *Q, const float *K, const float *V, float *out)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= N) return;

    float scores[N];
    float largest = -1e30f;
    for (int j = 0; j < N; j++) {
        float dot = 0.0f;
        for (int e = 0; e < D; e++) dot += Q[row * D + e] * K[j * D + e];
        scores[j] = dot * SCALE;
        if (scores[j] > largest) largest = scores[j];
    }

    float total = 0.0f;
    for (int j = 0; j < N; j++) {
        scores[j] = expf(scores[j] - largest);
        total += scores[j];
    }

    for (int e = 0; e < D; e++) {
        float sum = 0.0f;
        for (int j = 0; j < N; j++) sum += scores[j] * V[j * D + e];
        out[row * D + e] = sum / total;
    }
}
