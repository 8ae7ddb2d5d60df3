// Each thread weights seven integers from its own one on. Those of the block are in shared memory; others it reads where they are.
// buffers: A i32<100 in [N + 6], T i32<10 in [7], B i32 out [N]
// sizes: N=128; N=640; N=1152
// evo:constant taps = T
// evo:launch look_ahead(A, B, N) grid(ceil_div(N, 128)) block(128) shared(512)
#define LENGTH 7
__constant__ int taps[LENGTH];

__global__ void look_ahead(const int *series, int *sums, const int count)
{
    extern __shared__ int part[];
    const int own = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = series[own];
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < LENGTH; k++) {
        if (threadIdx.x + k < blockDim.x)
            sum += part[threadIdx.x + k] * taps[k];
        else
            sum += series[own + k] * taps[k];
    }
    sums[own] = sum;
}
