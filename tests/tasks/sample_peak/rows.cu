#include <cuda_fp16.h>
// evo:memset top 0
// evo:launch rowMax(table, peaks, N) grid(R) block(256)
// evo:launch topOf(list, top, R * N) grid(ceil_div(R * N, 512)) block(512)

// One block per row.
__global__ void rowMax(const float *table, float *peaks, int columns)
{
    __shared__ float best[256];
    const float *row = table + (size_t)blockIdx.x * columns;
    float mine = -INFINITY;
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        mine = row[c] > mine ? row[c] : mine;
    best[threadIdx.x] = mine;
    __syncthreads();
    for (int s = 1; s < blockDim.x; s *= 2) {
        int index = 2 * s * threadIdx.x;
        if (index + s < blockDim.x)
            best[index] = fmaxf(best[index], best[index + s]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        peaks[blockIdx.x] = best[0];
}

__global__ void topOf(const int *list, int *top, int n)
{
    __shared__ int s_max[512];
    int tid = threadIdx.x;
    int i = blockIdx.x * blockDim.x + tid;
    s_max[tid] = i < n ? list[i] : (-2147483647 - 1);
    __syncthreads();
    for (int half = 256; half >= 1; half = half / 2) {
        if (tid < half) {
            if (s_max[tid] < s_max[tid + half]) s_max[tid] = s_max[tid + half];
        }
        __syncthreads();
    }
    if (tid == 0) atomicMax(top, s_max[0]);
}
