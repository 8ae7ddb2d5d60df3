// buffers: X i32<1000 in [N], Y i32 out [1]
// sizes: N=1; N=1000; N=30011
// evo:workspace part i32 [ceil_div(N, 2 * 128)]
// evo:launch sum_blocks<int, 128>(X, part, N) grid(ceil_div(N, 2 * 128)) block(128) shared(128 * 4)
// evo:launch sum_blocks<int, 64>(part, Y, ceil_div(N, 2 * 128)) grid(1) block(64) shared(64 * 4)

// The last warp without block barriers, but with a warp barrier between a load and the store it may meet.
template <class T, unsigned int SIZE>
__device__ void finish_warp(volatile T *s, unsigned int t)
{
    T v = s[t];
    if (SIZE >= 64) { v += s[t + 32]; __syncwarp(); s[t] = v; __syncwarp(); }
    v += s[t + 16]; __syncwarp(); s[t] = v; __syncwarp();
    v += s[t + 8];  __syncwarp(); s[t] = v; __syncwarp();
    v += s[t + 4];  __syncwarp(); s[t] = v; __syncwarp();
    v += s[t + 2];  __syncwarp(); s[t] = v; __syncwarp();
    v += s[t + 1];  __syncwarp(); s[t] = v;
}

template <class T, unsigned int SIZE>
__global__ void sum_blocks(const T *in, T *out, unsigned int n)
{
    extern __shared__ int buffer[];
    unsigned int t = threadIdx.x;
    unsigned int i = blockIdx.x * (SIZE * 2) + t;
    unsigned int stride = SIZE * 2 * gridDim.x;
    T mySum = 0;

    while (i < n) {
        mySum += in[i];
        if (i + SIZE < n) mySum += in[i + SIZE];
        i += stride;
    }
    buffer[t] = mySum;
    __syncthreads();

    if (SIZE >= 512) { if (t < 256) buffer[t] = mySum = mySum + buffer[t + 256]; __syncthreads(); }
    if (SIZE >= 256) { if (t < 128) buffer[t] = mySum = mySum + buffer[t + 128]; __syncthreads(); }
    if (SIZE >= 128) { if (t < 64)  buffer[t] = mySum = mySum + buffer[t + 64];  __syncthreads(); }
    if (t < 32) finish_warp<T, SIZE>(buffer, t);
    if (t == 0) out[blockIdx.x] = buffer[0];
}
