// buffers: A i32<1000 in [N + 6], B i32 inout [N + 6]
// sizes: N=64; N=192; N=1280
// evo:launch stencil_1d(A, B) grid(N / 32) block(32)
#define RADIUS 3
#define BLOCK_SIZE 32

__global__ void stencil_1d(int *in, int *out)
{
    // The first elements are those of an edge.
    in += RADIUS;
    out += RADIUS;
    __shared__ int temp[BLOCK_SIZE + 2 * RADIUS];
    int g = threadIdx.x + blockIdx.x * blockDim.x;
    int l = threadIdx.x + RADIUS;
    temp[l] = in[g];
    if (threadIdx.x < RADIUS) {
        temp[l - RADIUS] = in[g - RADIUS];
        temp[l + BLOCK_SIZE] = in[g + BLOCK_SIZE];
    }
    __syncthreads();
    int result = 0;
    for (int offset = -RADIUS; offset <= RADIUS; offset++) result += temp[l + offset];
    out[g] = result;
}
