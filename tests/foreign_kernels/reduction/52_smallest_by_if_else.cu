// buffers: X i32<100000 in [N], Y i32 out [(N + 255) / 256]
// sizes: N=1; N=700; N=9001
// evo:launch smallest(X, Y, N) grid(ceil_div(N, 256)) block(256)
#include <climits>

__global__ void smallest(int *in, int *out, int n)
{
    __shared__ int low[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    low[t] = i < n ? in[i] : INT_MAX;
    __syncthreads();
    for (int s = 1; s < blockDim.x; s *= 2) {
        if (t % (2 * s) == 0) {
            if (low[t] < low[t + s]) low[t] = low[t];
            else low[t] = low[t + s];
        }
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = low[t];
}
