// One thread a row, three passes over the keys, [batch, head, token, dimension].
// buffers: Q f16 in [B, H, N, 32], K f16 in [B, H, N, 32], V f16 in [B, H, N, 32], O f16 out [B, H, N, 32]
// sizes: B=1 H=2 N=40; B=2 H=1 N=7
#include <cuda_fp16.h>
#define HEAD_DIM 32

// evo:launch naive_attention(Q, K, V, O, N, f32(0.1767767)) grid((N + 31) / 32, H, B) block(32)
__global__ void naive_attention(const half* q, const half* k, const half* v, half* o, int seq_len, float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= seq_len) return;
    int offset = (blockIdx.z * gridDim.y + blockIdx.y) * seq_len * HEAD_DIM;

    float max_score = -INFINITY;
    for (int j = 0; j < seq_len; j++) {
        float s = 0.0f;
        for (int d = 0; d < HEAD_DIM; d++)
            s += __half2float(q[offset + i * HEAD_DIM + d]) * __half2float(k[offset + j * HEAD_DIM + d]);
        max_score = fmaxf(max_score, s * scale);
    }
    float acc[HEAD_DIM];
    for (int d = 0; d < HEAD_DIM; d++) acc[d] = 0.0f;
    float denom = 0.0f;
    for (int j = 0; j < seq_len; j++) {
        float s = 0.0f;
        for (int d = 0; d < HEAD_DIM; d++)
            s += __half2float(q[offset + i * HEAD_DIM + d]) * __half2float(k[offset + j * HEAD_DIM + d]);
        float p = expf(s * scale - max_score);
        denom += p;
        for (int d = 0; d < HEAD_DIM; d++) acc[d] += p * __half2float(v[offset + j * HEAD_DIM + d]);
    }
    for (int d = 0; d < HEAD_DIM; d++) o[offset + i * HEAD_DIM + d] = __float2half(acc[d] / denom);
}
