// Scores are kept in an array of the thread.
// evo:launch attention(Q, K, V, O, T, H * 32) grid(1, H, ceil_div(T, 32)) block(32)
#include <cuda_fp16.h>

#define DIM 32
#define MOST 512

__global__ void attention(const half *Q, const half *K, const half *V, half *O, int n, int ld)
{
    int i = blockIdx.z * 32 + threadIdx.x;
    if (n > MOST) return;
    if (i >= n)
        return;
    Q += blockIdx.y * DIM;
    float s[MOST];
    float biggest = -1e30f;
    for (int j = 0; j < n; ++j) {
        float dot = 0.f;
        for (int d = 0; d < DIM; ++d)
            dot += float(Q[i * ld + d]) * float(K[j * ld + blockIdx.y * DIM + d]);
        s[j] = dot / sqrtf(DIM);
        if (s[j] > biggest) biggest = s[j];
    }
    float total = 0.f;
    for (int j = 0; j < n; ++j) {
        s[j] = __expf(s[j] - biggest);
        total += s[j];
    }
    for (int j = 0; j < n; ++j) s[j] /= total;
    for (int d = 0; d < DIM; ++d) {
        float sum = 0.f;
        for (int j = 0; j < n; ++j) sum += s[j] * float(V[j * ld + blockIdx.y * DIM + d]);
        O[i * ld + blockIdx.y * DIM + d] = __float2half(sum);
    }
}
