// Causal, in three kernels, with queries, keys and values of a token in one buffer and six heads that the host passes as a number.
// buffers: inp f32 in [B, T, 3, C], out f32 inout [B, T, C]
// sizes: B=1 T=5 C=12; B=2 T=37 C=48
// evo:workspace preatt f32 [B, 6, T, T]
// evo:workspace att f32 [B, 6, T, T]
// evo:launch query_key(preatt, inp, B, T, C, 6) grid(ceil_div(B * 6 * T * T, 64)) block(64)
// evo:launch softmax(att, preatt, B, T, 6) grid(ceil_div(B * 6 * T, 64)) block(64)
// evo:launch values(out, att, inp, B, T, C, 6) grid(ceil_div(B * 6 * T, 64)) block(64)
#include <cfloat>

__global__ void query_key(float* preatt, const float* inp, int B, int T, int C, int NH)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < B * NH * T * T) {
        int t2 = idx % T, t = (idx / T) % T;
        if (t2 > t) {
            preatt[idx] = -INFINITY;
            return;
        }
        int h = (idx / (T * T)) % NH, b = idx / (NH * T * T);
        int C3 = C * 3, hs = C / NH;
        const float* query_t = inp + b * T * C3 + t * C3 + h * hs;
        const float* key_t2 = inp + b * T * C3 + t2 * C3 + h * hs + C;
        float val = 0.0f;
        for (int i = 0; i < hs; i++) val += query_t[i] * key_t2[i];
        val *= 1.0 / sqrtf(hs);
        preatt[idx] = val;
    }
}

__global__ void softmax(float* att, const float* preatt, int B, int T, int NH)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < B * T * NH) {
        int h = idx % NH, t = (idx / NH) % T, b = idx / (NH * T);
        const float* from = preatt + b * NH * T * T + h * T * T + t * T;
        float* to = att + b * NH * T * T + h * T * T + t * T;
        float largest = -FLT_MAX;
        for (int t2 = 0; t2 <= t; t2++) {
            if (from[t2] > largest) largest = from[t2];
        }
        float sum = 0.0f;
        for (int t2 = 0; t2 <= t; t2++) {
            float e = expf(from[t2] - largest);
            sum += e;
            to[t2] = e;
        }
        float inverse = sum == 0.0f ? 0.0f : 1.0f / sum;
        for (int t2 = 0; t2 < T; t2++) {
            if (t2 <= t)
                to[t2] *= inverse;
            else
                to[t2] = 0.0f;
        }
    }
}

__global__ void values(float* out, const float* att, const float* inp, int B, int T, int C, int NH)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < B * T * NH) {
        int h = idx % NH, t = (idx / NH) % T, b = idx / (NH * T);
        int C3 = C * 3, hs = C / NH;
        float* to = out + b * T * C + t * C + h * hs;
        const float* from = att + b * NH * T * T + h * T * T + t * T;
        for (int i = 0; i < hs; i++) to[i] = 0.0f;
        for (int t2 = 0; t2 <= t; t2++) {
            const float* value = inp + b * T * C3 + t2 * C3 + h * hs + C * 2;
            for (int i = 0; i < hs; i++) to[i] += from[t2] * value[i];
        }
    }
}
