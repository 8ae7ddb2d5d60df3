// buffers: A f32 in [N], B f32 in [N], Y f32 out [1]
// sizes: N=1; N=1000; N=30011
// evo:workspace partial_c f32 [32]
// evo:launch dot(A, B, partial_c, N) grid(32) block(256)
// evo:launch addPartials(partial_c, Y) grid(1) block(1)
const int threadsPerBlock = 256;
const int blocksPerGrid = 32;

__global__ void dot(float *a, float *b, float *c, int N) {
    __shared__ float cache[threadsPerBlock];
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    int cacheIndex = threadIdx.x;

    float temp = 0;
    while (tid < N) {
        temp += a[tid] * b[tid];
        tid += blockDim.x * gridDim.x;
    }

    // set the cache values
    cache[cacheIndex] = temp;

    // synchronize threads in this block
    __syncthreads();

    // threadsPerBlock must be a power of 2
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

__global__ void addPartials(float *partial_c, float *c) {
    float sum = 0;
    for (int i = 0; i < blocksPerGrid; i++)
        sum += partial_c[i];
    *c = sum;
}
