// buffers: X f32 in [N], Y f32 out [1]
// sizes: N=1; N=1000; N=30011
// evo:workspace part f32 [ceil_div(N, 512)]
// evo:launch sum_pairs<float, 256>(X, part, N) grid(ceil_div(N, 512)) block(256) shared(256 * 4)
// evo:launch sum_pairs<float, 256>(part, Y, ceil_div(N, 512)) grid(1) block(256) shared(256 * 4)

// One name for dynamic shared memory of any type.
template <typename T>
struct DynamicShared {
    __device__ operator T *() { extern __shared__ double storage[]; return (T *)storage; }
};

template <typename T, unsigned BLOCK>
__global__ void sum_pairs(const T *values, T *sums, unsigned count)
{
    T *tile = DynamicShared<T>();
    const unsigned me = threadIdx.x;
    T own = 0;
    for (unsigned at = blockIdx.x * BLOCK * 2 + me; at < count; at += BLOCK * 2 * gridDim.x)
    {
        own += values[at];
        if (at + BLOCK < count) own += values[at + BLOCK];
    }
    tile[me] = own;
    __syncthreads();
    if (BLOCK >= 256 && me < 128) tile[me] = own = own + tile[me + 128];
    __syncthreads();
    if (BLOCK >= 128 && me < 64) tile[me] = own = own + tile[me + 64];
    __syncthreads();
    if (me < 32)
    {
        own += tile[me + 32];
        for (int lanes = warpSize / 2; lanes > 0; lanes /= 2) own += __shfl_down_sync(0xffffffff, own, lanes);
    }
    if (me == 0) sums[blockIdx.x] = own;
}
