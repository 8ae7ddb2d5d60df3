// One thread a row, with the row of scores in scratch memory.
// buffers: query f16 in [BH, T, 48], key f16 in [BH, T, 48], value f16 in [BH, T, 48], out f16 out [BH, T, 48]
// sizes: BH=2 T=21; BH=1 T=8
// evo:workspace att f32 [BH, T, T]
#include <cuda_fp16.h>
#define HS 48

// evo:launch attention_query_key_value(out, att, query, key, value, BH, T) grid(ceil_div(BH * T, 64)) block(64)
__global__ void attention_query_key_value(half* out, float* att, const half* query, const half* key, const half* value, int BH,
                                          int T) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= BH * T) return;
    int t = idx % T;
    int bh = idx / T;
    const half* query_t = query + bh * T * HS + t * HS;
    float* att_bth = att + bh * T * T + t * T;
    float scale = 1.0f / sqrtf(HS);

    float maxval = -10000.0f;
    for (int t2 = 0; t2 < T; t2++) {
        const half* key_t2 = key + bh * T * HS + t2 * HS;
        float val = 0.0f;
        for (int i = 0; i < HS; i++) val += __half2float(query_t[i]) * __half2float(key_t2[i]);
        val *= scale;
        if (val > maxval) maxval = val;
        att_bth[t2] = val;
    }
    float expsum = 0.0f;
    for (int t2 = 0; t2 < T; t2++) {
        float expv = expf(att_bth[t2] - maxval);
        expsum += expv;
        att_bth[t2] = expv;
    }
    float expsum_inv = expsum == 0.0f ? 0.0f : 1.0f / expsum;
    half* out_bth = out + bh * T * HS + t * HS;
    for (int i = 0; i < HS; i++) {
        float sum = 0.0f;
        for (int t2 = 0; t2 < T; t2++) sum += att_bth[t2] * expsum_inv * __half2float(value[bh * T * HS + t2 * HS + i]);
        out_bth[i] = __float2half(sum);
    }
}
