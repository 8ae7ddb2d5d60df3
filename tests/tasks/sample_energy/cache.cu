#define threadsPerBlock 128
// evo:workspace partial f32 [32]
// evo:launch energy(signal, partial, N) grid(32) block(128)
// evo:launch last(partial, energy, 32) grid(1) block(32)

// Blocks take turns through the signal.
__global__ void energy(const float *a, float *c, int N) {
    __shared__ float cache[threadsPerBlock];
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    int cacheIndex = threadIdx.x;

    float temp = 0;
    while (tid < N) {
        float v = a[tid];
        temp += v * v;
        tid += blockDim.x * gridDim.x;
    }
    cache[cacheIndex] = temp;
    __syncthreads();

    int i = blockDim.x / 2;
    while (i != 0) {
        if (cacheIndex < i)
            cache[cacheIndex] += cache[cacheIndex + i];
        __syncthreads();
        i /= 2;
    }

    if (cacheIndex == 0)
        c[blockIdx.x] = cache[0];
}

__global__ void last(const float *c, float *result, int parts) {
    __shared__ float all[32];
    all[threadIdx.x] = threadIdx.x < parts ? c[threadIdx.x] : 0.0f;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (int k = 0; k < 32; k++) sum += all[k];
        result[0] = sum;
    }
}
