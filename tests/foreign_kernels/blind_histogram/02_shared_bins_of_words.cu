// buffers: X u32<4294967295 in [N], BINS u32 out [256]
// sizes: N=1; N=1000; N=9001
// evo:memset BINS 0
// evo:launch histogram256(BINS, X, N) grid(16) block(192)

#define HISTOGRAM_BINS 256
typedef unsigned int uint;

inline __device__ void addByte(uint *s_Hist, uint data)
{
    atomicAdd(s_Hist + data, 1);
}

inline __device__ void addWord(uint *s_Hist, uint data)
{
    addByte(s_Hist, (data >>  0) & 0xFFU);
    addByte(s_Hist, (data >>  8) & 0xFFU);
    addByte(s_Hist, (data >> 16) & 0xFFU);
    addByte(s_Hist, (data >> 24) & 0xFFU);
}

__global__ void histogram256(uint *d_Histogram, uint *d_Data, uint dataCount)
{
    __shared__ uint s_Hist[HISTOGRAM_BINS];

    for (uint i = threadIdx.x; i < HISTOGRAM_BINS; i += blockDim.x)
        s_Hist[i] = 0;
    __syncthreads();

    for (uint pos = blockIdx.x * blockDim.x + threadIdx.x; pos < dataCount; pos += blockDim.x * gridDim.x)
        addWord(s_Hist, d_Data[pos]);
    __syncthreads();

    for (uint i = threadIdx.x; i < HISTOGRAM_BINS; i += blockDim.x)
        atomicAdd(d_Histogram + i, s_Hist[i]);
}
