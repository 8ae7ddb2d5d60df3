// buffers: L f32 in [T, E], IDX i32 out [T], PROB f32 out [T], LOAD i32 out [E]
// sizes: T=1 E=1; T=70 E=8; T=300 E=61
// evo:memset LOAD 0
// evo:launch switch_router<float>(L, {IDX, PROB, LOAD}, {T, E, 1}) grid(ceil_div(T, 128)) block(128)

struct RouterOutputs {
    int   *expert;
    float *prob;
    int   *load;
};

struct RouterShape {
    int tokens;
    int experts;
    int renormalise;
};

// Top-1 gating of a switch transformer: the expert of each token, its probability, the load of each expert.
template <typename T>
__global__ void switch_router(const T *__restrict__ logits, RouterOutputs o, RouterShape s)
{
    const int token = threadIdx.x + blockDim.x * blockIdx.x;
    if (token < s.tokens) {
        const T *p = logits + (size_t)token * s.experts;
        float top = (float)p[0];
        int arg = 0;
        for (int e = 1; e < s.experts; e++) {
            const float v = (float)p[e];
            if (v > top) { top = v; arg = e; }
        }
        float denom = 0.f;
        for (int e = 0; e != s.experts; e++)
            denom += __expf((float)p[e] - top);
        o.expert[token] = arg;
        o.prob[token] = s.renormalise ? 1.f / denom : top;
        atomicAdd(&o.load[arg], 1);
    }
}
