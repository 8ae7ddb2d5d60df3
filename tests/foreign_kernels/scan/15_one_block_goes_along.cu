// buffers: X f32 in [N], Y f32 out [N]
// sizes: N=1; N=300; N=5003
// evo:launch running_sum<float>(X, Y, N) grid(1) block(512)
#define THREADS 512
#define LOG_WARP 5

template <typename T>
__device__ T warp_scan(T x)
{
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int i = 0; i < LOG_WARP; i++) {
        T y = __shfl_up_sync(0xFFFFFFFFu, x, 1 << i);
        if (lane >= (1 << i)) x += y;
    }
    return x;
}

// Tile after tile; what was before it is carried along in a register of every thread.
template <typename T>
__global__ void running_sum(const T *input, T *output, int n)
{
    __shared__ T sums[THREADS / 32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> LOG_WARP;
    T carry = 0;
    for (int tile = 0; tile < n; tile += THREADS) {
        const int i = tile + threadIdx.x;
        T x = 0;
        if (i < n) x = input[i];
        x = warp_scan(x);
        if (lane == 31) sums[warp] = x;
        __syncthreads();
        if (warp == 0) {
            T s = 0;
            if (lane < THREADS / 32) s = sums[lane];
            s = warp_scan(s);
            if (lane < THREADS / 32) sums[lane] = s;
        }
        __syncthreads();
        if (warp) x += sums[warp - 1];
        if (i < n) output[i] = carry + x;
        carry += sums[THREADS / 32 - 1];
        __syncthreads();
    }
}
