// buffers: X f32 in [N], Y f32 in [N], MAXDIFF f32 out [1]
// sizes: N=1; N=1000; N=9011
// evo:memset MAXDIFF 0
// evo:launch max_difference(X, Y, MAXDIFF, N) grid(ceil_div(N, 512)) block(512)

__device__ float atomicMaxFloat(float* address, float val)
{
    int* address_as_i = (int*)address;
    int old = *address_as_i, assumed;
    do {
        assumed = old;
        old = atomicCAS(address_as_i, assumed, __float_as_int(fmaxf(val, __int_as_float(assumed))));
    } while (assumed != old);
    return __int_as_float(old);
}

// Convergence test of a solver: the largest change of any unknown.
__global__ void max_difference(const float* d_new, const float* d_old, float* d_max, const int elements)
{
    __shared__ float sdata[512];

    int tid = threadIdx.x;
    int gid = (blockDim.x * blockIdx.x) + tid;
    sdata[tid] = 0.0f;

    while (gid < elements) {
        sdata[tid] = max(sdata[tid], fabsf(d_new[gid] - d_old[gid]));
        gid += gridDim.x * blockDim.x;
    }
    __syncthreads();

    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s)
            sdata[tid] = max(sdata[tid], sdata[tid + s]);
        __syncthreads();
    }

    if (tid == 0)
        atomicMaxFloat(d_max, sdata[0]);
}
