// Causal by the end of the loop, with a bias that grows with the distance (ALiBi).
// buffers: Q f16 in [B, H, T, 32], K f16 in [B, H, T, 32], V f16 in [B, H, T, 32], slopes f32 in [H], O f16 out [B, H, T, 32]
// sizes: B=1 H=4 T=33; B=2 H=2 T=5
#include <cuda_fp16.h>
#define D 32

// evo:launch alibi_attention(Q, K, V, slopes, O, T, H) grid(ceil_div(T, 32), B * H) block(32)
__global__ void alibi_attention(const half* Q, const half* K, const half* V, const float* slopes, half* O, int T, int H)
{
    int t = threadIdx.x + blockIdx.x * blockDim.x;
    if (t >= T)
        return;
    int bh = blockIdx.y;
    float slope = slopes[bh % H];
    const half* Qh = Q + (long)bh * T * D;
    const half* Kh = K + (long)bh * T * D;
    const half* Vh = V + (long)bh * T * D;

    float m = -1e38f, sum = 0.0f, o[D];
    for (int d = 0; d < D; d++) o[d] = 0.0f;
    for (int s = 0; s <= t; s++)
    {
        float score = 0.0f;
        for (int d = 0; d < D; d++)
            score += __half2float(Qh[t * D + d]) * __half2float(Kh[s * D + d]);
        score = score * rsqrtf((float)D) + slope * (float)(s - t);
        float m2 = max(m, score);
        float a = expf(m - m2);
        float e = expf(score - m2);
        sum = sum * a + e;
        for (int d = 0; d < D; d++)
            o[d] = o[d] * a + e * __half2float(Vh[s * D + d]);
        m = m2;
    }
    for (int d = 0; d < D; d++)
        O[(long)bh * T * D + t * D + d] = __float2half(o[d] / sum);
}
