// Tiles of halves in shared memory, a thread a row, with the logarithm of each row's sum.
// buffers: q f16 in [H, N, 64], k f16 in [H, N, 64], v f16 in [H, N, 64], o f16 out [H, N, 64], sums f32 out [H, N]
// sizes: H=1 N=1; H=3 N=37; H=1 N=100
// evo:launch flash(q, k, v, o, sums, N) grid(ceil_div(N, 32), H) block(32)
#include <cuda_fp16.h>

#define TILE 32
#define D 64

__global__ void flash(const half *q, const half *k, const half *v, half *o, float *sums, int n)
{
    __shared__ float tile_k[TILE][D], tile_v[TILE][D];
    const int row = blockIdx.x * TILE + threadIdx.x;
    const int head = blockIdx.y * n;
    float query[D], out[D], m = -INFINITY, l = 0.0f;
    for (int i = 0; i < D; ++i) {
        query[i] = row < n ? __half2float(q[(head + row) * D + i]) * 0.125f : 0.0f;
        out[i] = 0.0f;
    }
    for (int first = 0; first < n; first += TILE) {
        __syncthreads();
        for (int i = 0; i < D; ++i) {
            tile_k[threadIdx.x][i] = first + threadIdx.x < n ? __half2float(k[(head + first + threadIdx.x) * D + i]) : 0.0f;
            tile_v[threadIdx.x][i] = first + threadIdx.x < n ? __half2float(v[(head + first + threadIdx.x) * D + i]) : 0.0f;
        }
        __syncthreads();
        float scores[TILE], larger = m;
        for (int c = 0; c < TILE; ++c) {
            float score = 0.0f;
            for (int i = 0; i < D; ++i) score += query[i] * tile_k[c][i];
            scores[c] = first + c < n ? score : -INFINITY;
            larger = fmaxf(larger, scores[c]);
        }
        const float shrink = expf(m - larger);
        l *= shrink;
        for (int i = 0; i < D; ++i) out[i] *= shrink;
        for (int c = 0; c < TILE; ++c) {
            const float weight = expf(scores[c] - larger);
            l += weight;
            for (int i = 0; i < D; ++i) out[i] += weight * tile_v[c][i];
        }
        m = larger;
    }
    if (row >= n) return;
    for (int i = 0; i < D; ++i) o[(head + row) * D + i] = __float2half(out[i] / l);
    sums[head + row] = m + logf(l);
}
