// A small GPT: queries, keys and values side by side in one matrix [B, T, 3 * C]; a block a query, its scores in dynamic shared memory.
// buffers: qkv f32 in [B, T, 3 * C], y f32 out [B, T, C]
// sizes: B=2 T=37 C=64 NH=2; B=1 T=8 C=32 NH=1; B=1 T=70 C=96 NH=3
#include <cfloat>

#define BLOCK 128
#define WARPS (BLOCK / 32)

__device__ float warpReduceMax(float v) {
    for (int offset = 16; offset > 0; offset /= 2) v = fmaxf(v, __shfl_down_sync(0xffffffff, v, offset));
    return v;
}

__device__ float warpReduceSum(float v) {
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
    return v;
}

// evo:launch causal_attention(qkv, y, T, C, NH) grid(T, NH, B) block(128) shared(T * 4)
__global__ void causal_attention(const float *qkv, float *y, int T, int C, int NH) {
    extern __shared__ float att[];
    __shared__ float partial[WARPS];
    __shared__ float shared_max, shared_sum;

    int t = blockIdx.x;
    int h = blockIdx.y;
    int b = blockIdx.z;
    int tid = threadIdx.x;
    int lane = tid % 32, warp = tid / 32;
    int hs = C / NH;
    float scale = 1.0f / sqrtf((float)hs);

    const float *q = qkv + (b * T + t) * 3 * C + h * hs;

    // 1. scores of the keys up to this position
    float mx = -FLT_MAX;
    for (int t2 = tid; t2 <= t; t2 += BLOCK) {
        const float *k = qkv + (b * T + t2) * 3 * C + C + h * hs;
        float dot = 0.0f;
        for (int i = 0; i < hs; i++) dot += q[i] * k[i];
        dot *= scale;
        att[t2] = dot;
        if (dot > mx) mx = dot;
    }
    mx = warpReduceMax(mx);
    if (lane == 0) partial[warp] = mx;
    __syncthreads();
    if (tid == 0) {
        float m = partial[0];
        for (int i = 1; i < WARPS; i++) m = fmaxf(m, partial[i]);
        shared_max = m;
    }
    __syncthreads();

    // 2. softmax
    float sum = 0.0f;
    for (int t2 = tid; t2 <= t; t2 += BLOCK) {
        float e = expf(att[t2] - shared_max);
        att[t2] = e;
        sum += e;
    }
    sum = warpReduceSum(sum);
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    if (tid == 0) {
        float s = 0.0f;
        for (int i = 0; i < WARPS; i++) s += partial[i];
        shared_sum = s;
    }
    __syncthreads();

    // 3. weighted sum of the values
    for (int i = tid; i < hs; i += BLOCK) {
        float acc = 0.0f;
        for (int t2 = 0; t2 <= t; t2++) {
            const float *v = qkv + (b * T + t2) * 3 * C + 2 * C + h * hs;
            acc += att[t2] / shared_sum * v[i];
        }
        y[(b * T + t) * C + h * hs + i] = acc;
    }
}
