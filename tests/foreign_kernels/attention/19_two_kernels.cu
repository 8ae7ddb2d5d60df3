// Two kernels: probabilities of a row by one block, then the product with the values by one thread an element.
// buffers: Q f32 in [BH, N, 32], K f32 in [BH, N, 32], V f32 in [BH, N, 32], O f32 out [BH, N, 32]
// sizes: BH=2 N=40; BH=3 N=7
// evo:workspace P f32 [BH, N, N]
#define DHEAD 32

// evo:launch softmax_qk(Q, K, P, N, f32(0.17677669)) grid(N, BH) block(64)
__global__ void softmax_qk(const float* Q, const float* K, float* P, int N, float scale)
{
    __shared__ float red[64];
    const int row = blockIdx.x;
    const float* q = Q + (blockIdx.y * N + row) * DHEAD;
    const float* k = K + blockIdx.y * N * DHEAD;
    float* p = P + (blockIdx.y * N + row) * N;
    float best = -1e30f;
    for (int j = threadIdx.x; j < N; j += 64)
    {
        float s = 0;
        for (int d = 0; d < DHEAD; d++) s += q[d] * k[j * DHEAD + d];
        p[j] = s * scale;
        best = fmaxf(best, p[j]);
    }
    red[threadIdx.x] = best;
    __syncthreads();
    for (int n = 32; n; n >>= 1)
    {
        if (threadIdx.x < n) red[threadIdx.x] = fmaxf(red[threadIdx.x], red[threadIdx.x + n]);
        __syncthreads();
    }
    best = red[0];
    __syncthreads();
    float part = 0;
    for (int j = threadIdx.x; j < N; j += 64)
    {
        p[j] = expf(p[j] - best);
        part += p[j];
    }
    red[threadIdx.x] = part;
    __syncthreads();
    for (int n = 32; n; n >>= 1)
    {
        if (threadIdx.x < n) red[threadIdx.x] += red[threadIdx.x + n];
        __syncthreads();
    }
    for (int j = threadIdx.x; j < N; j += 64) p[j] /= red[0];
}

// evo:launch pv(P, V, O, N) grid(ceil_div(N, 4), BH) block(32, 4)
__global__ void pv(const float* P, const float* V, float* O, int N)
{
    int d = threadIdx.x;
    int row = blockIdx.x * 4 + threadIdx.y;
    if (row >= N) return;
    const float* p = P + (blockIdx.y * N + row) * N;
    float acc = 0;
    for (int j = 0; j < N; j++) acc += p[j] * V[(blockIdx.y * N + j) * DHEAD + d];
    O[(blockIdx.y * N + row) * DHEAD + d] = acc;
}
