// evo:workspace partial f32 [ceil_div(N, 512)]
// evo:launch energyPartial(signal, partial, N) grid(ceil_div(N, 512)) block(256) shared(256 * 4)
// evo:launch addUp(partial, energy, ceil_div(N, 512)) grid(1) block(1)

// Every block squares two elements per thread and adds them up by halves.
__global__ void energyPartial(const float *g_in, float *g_out, unsigned int n)
{
    extern __shared__ float sdata[];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;

    float mySum = (i < n) ? g_in[i] * g_in[i] : 0;
    if (i + blockDim.x < n)
        mySum += g_in[i + blockDim.x] * g_in[i + blockDim.x];
    sdata[tid] = mySum;
    __syncthreads();

    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s)
            sdata[tid] += sdata[tid + s];
        __syncthreads();
    }

    if (tid == 0)
        g_out[blockIdx.x] = sdata[0];
}

__global__ void addUp(const float *partial, float *energy, int blocks)
{
    float total = 0.0f;
    for (int b = 0; b < blocks; b++)
        total += partial[b];
    *energy = total;
}
