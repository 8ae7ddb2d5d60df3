// Of half, a thread a query in two passes: each row leaves its largest score and the sum of its weights for the way back.
// buffers: q f16 in [B, N, 32], k f16 in [B, N, 32], v f16 in [B, N, 32], o f16 out [B, N, 32], top f32 out [B, N], sum f32 out [B, N]
// sizes: B=1 N=1; B=2 N=37; B=1 N=130
// evo:launch forward(q, k, v, o, top, sum, N, f32(0.1767767)) grid(ceil_div(N, 64), B) block(64)
#include <cuda_fp16.h>

#define D 32

__global__ void forward(const __half *q, const __half *k, const __half *v, __half *o, float *top, float *sum, int n, float scale)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x, head = blockIdx.y;
    if (row >= n) return;
    const int first = head * n;
    float m = -INFINITY, l = 0.f, mixed[D];
    for (int i = 0; i < D; i++) mixed[i] = 0.f;
    for (int j = 0; j < n; j++) {
        float s = 0.f;
        for (int i = 0; i < D; i++) s += __half2float(q[(first + row) * D + i]) * __half2float(k[(first + j) * D + i]);
        m = fmaxf(m, s * scale);
    }
    for (int j = 0; j < n; j++) {
        float s = 0.f;
        for (int i = 0; i < D; i++) s += __half2float(q[(first + row) * D + i]) * __half2float(k[(first + j) * D + i]);
        const float weight = expf(s * scale - m);
        l += weight;
        for (int i = 0; i < D; i++) mixed[i] += weight * __half2float(v[(first + j) * D + i]);
    }
    for (int i = 0; i < D; i++) o[(first + row) * D + i] = __float2half(mixed[i] / l);
    top[head * n + row] = m;
    sum[head * n + row] = l;
}
