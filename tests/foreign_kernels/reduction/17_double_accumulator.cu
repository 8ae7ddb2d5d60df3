// buffers: A f32 in [N], B f32 in [N], Y f32 out [1]
// sizes: N=1; N=1000; N=30011
// evo:workspace block_sums f64 [128]
// evo:launch norm_of_difference(A, B, block_sums, N) grid(128) block(256)
// evo:launch finish(block_sums, Y, 128) grid(1) block(128)

#define BLOCK 256

/* Sum of squared differences, added up in double because n is large. */
__global__ void norm_of_difference(const float *a, const float *b, double *block_sums, int n)
{
    __shared__ double cache[BLOCK];
    int idx = threadIdx.x + blockIdx.x * blockDim.x;
    int cacheIndex = threadIdx.x;

    double temp = 0.0;
    while (idx < n) {
        double d = (double)a[idx] - (double)b[idx];
        temp += d * d;
        idx += blockDim.x * gridDim.x;
    }
    cache[cacheIndex] = temp;
    __syncthreads();

    int half = blockDim.x / 2;
    while (half != 0) {
        if (cacheIndex < half)
            cache[cacheIndex] += cache[cacheIndex + half];
        __syncthreads();
        half /= 2;
    }
    if (cacheIndex == 0)
        block_sums[blockIdx.x] = cache[0];
}

__global__ void finish(const double *block_sums, float *result, int count)
{
    __shared__ double cache[128];
    int t = threadIdx.x;
    cache[t] = t < count ? block_sums[t] : 0.0;
    __syncthreads();
    for (int half = 64; half >= 1; half = half / 2) {
        if (t < half) cache[t] = cache[t] + cache[t + half];
        __syncthreads();
    }
    if (t == 0) *result = (float)sqrt(cache[0]);
}
