// A block a row in three phases, with dynamic shared memory cut into a query, scores and partial results.
// buffers: q f32 in [H, N, D], k f32 in [H, N, D], v f32 in [H, N, D], out f32 out [H, N, D]
// sizes: H=2 N=37 D=40; H=1 N=90 D=32
// evo:param THREADS 64 128
#ifndef THREADS
#define THREADS 64
#endif

// evo:launch attention_row(q, k, v, out, N, D, f32(1.0 / sqrt(D))) grid(N, H) block(THREADS) shared((D + N + THREADS) * 4)
__global__ void attention_row(const float* q, const float* k, const float* v, float* out, int n, int d, float scale)
{
    extern __shared__ float smem[];
    float* q_row = smem;
    float* scores = q_row + d;
    float* red = scores + n;
    int row = blockIdx.x, head = blockIdx.y, tid = threadIdx.x;
    size_t base = (size_t)head * n * d;

    for (int c = tid; c < d; c += THREADS) q_row[c] = q[base + row * d + c] * scale;
    __syncthreads();

    float my_max = -3.402823466e+38f;
    for (int j = tid; j < n; j += THREADS) {
        float s = 0.f;
        for (int c = 0; c < d; c++) s += q_row[c] * k[base + j * d + c];
        scores[j] = s;
        my_max = max(my_max, s);
    }
    red[tid] = my_max;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (tid < half) red[tid] = max(red[tid], red[tid + half]);
        __syncthreads();
    }
    my_max = red[0];
    __syncthreads();

    float my_sum = 0.f;
    for (int j = tid; j < n; j += THREADS) {
        float e = expf(scores[j] - my_max);
        scores[j] = e;
        my_sum += e;
    }
    red[tid] = my_sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (tid < half) red[tid] += red[tid + half];
        __syncthreads();
    }
    float inverse = 1.f / red[0];

    for (int c = tid; c < d; c += THREADS) {
        float acc = 0.f;
        for (int j = 0; j < n; j++) acc += scores[j] * v[base + j * d + c];
        out[base + row * d + c] = acc * inverse;
    }
}
