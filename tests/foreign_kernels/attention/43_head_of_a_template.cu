// Causal, one thread a query, its row in registers: the number of its elements is an argument of the template, and a size.
// buffers: q f32 in [BH, N, D], k f32 in [BH, N, D], v f32 in [BH, N, D], o f32 out [BH, N, D]
// sizes: BH=1 N=1 D=8; BH=2 N=37 D=20; BH=1 N=130 D=40
// evo:size D_SIZE = D
// evo:launch fused<D_SIZE>(q, k, v, o, N, f32(1.0 / sqrt(D))) grid(ceil_div(N, 64), BH) block(64)

#ifndef D_SIZE
#define D_SIZE 32
#endif

template <int D>
__global__ void fused(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                      float* __restrict__ o, int N, float scale)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= N) return;
    size_t base = (size_t)blockIdx.y * N * D;
    const float* K = k + base;
    const float* V = v + base;
    float qreg[D];
    float acc[D];
#pragma unroll
    for (int i = 0; i < D; i++) {
        qreg[i] = q[base + (size_t)row * D + i] * scale;
        acc[i] = 0.f;
    }
    float m = -1e30f;
    float l = 0.f;
    for (int j = 0; j <= row; j++) {
        float s = 0.f;
#pragma unroll
        for (int i = 0; i < D; i++) s += qreg[i] * K[j * D + i];
        float m_new = fmaxf(m, s);
        float corr = expf(m - m_new);
        float p = expf(s - m_new);
        l = l * corr + p;
#pragma unroll
        for (int i = 0; i < D; i++) acc[i] = acc[i] * corr + p * V[j * D + i];
        m = m_new;
    }
    float inv = 1.f / l;
#pragma unroll
    for (int i = 0; i < D; i++) o[base + (size_t)row * D + i] = acc[i] * inv;
}
