// buffers: X f32 in [N], Y f32 out [N / 512]
// sizes: N=512; N=1024; N=20480
// evo:launch reduce_v4(X, Y) grid(N / 512) block(256)

// The lanes of the last warp go together, as they did before Volta.
__device__ void warpReduce(volatile float *cache, unsigned int tid)
{
    cache[tid] += cache[tid + 32];
    cache[tid] += cache[tid + 16];
    cache[tid] += cache[tid + 8];
    cache[tid] += cache[tid + 4];
    cache[tid] += cache[tid + 2];
    cache[tid] += cache[tid + 1];
}

__global__ void reduce_v4(float *in, float *out)
{
    __shared__ float data[256];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
    data[tid] = in[i] + in[i + blockDim.x];
    __syncthreads();
    for (unsigned int s = blockDim.x / 2; s > 32; s >>= 1) {
        if (tid < s) data[tid] += data[tid + s];
        __syncthreads();
    }
    if (tid < 32) warpReduce(data, tid);
    if (tid == 0) out[blockIdx.x] = data[0];
}
