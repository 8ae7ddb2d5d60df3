// evo:memset energy 0
// evo:launch energyShared(signal, energy, i64(N)) grid(ceil_div(N, 64)) block(64)

// The threads of a block add to one total in shared memory.
__global__ void energyShared(const float *__restrict__ s, float *__restrict__ e, size_t n)
{
    __shared__ float block_total;
    if (threadIdx.x == 0) block_total = 0.f;
    __syncthreads();

    const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) atomicAdd(&block_total, s[at] * s[at]);
    __syncthreads();

    if (threadIdx.x == 0) atomicAdd(e, block_total);
}
