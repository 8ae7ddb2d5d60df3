// evo:memset energy 0
// evo:launch addSquares(signal, energy, N) grid(ceil_div(N, 256)) block(256)

__global__ void addSquares(const float *x, float *total, int count)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= count) return;
    atomicAdd(total, x[idx] * x[idx]);
}
