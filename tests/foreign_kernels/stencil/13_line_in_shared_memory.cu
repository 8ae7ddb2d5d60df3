// buffers: A f32 in [N], B f32 out [N]
// sizes: N=1; N=300; N=1027
// evo:launch stencil_1d(A, B, N) grid(ceil_div(N, 128)) block(128)
#define RADIUS 3
#define BLOCK_SIZE 128

__global__ void stencil_1d(const float *in, float *out, int n)
{
    __shared__ float temp[BLOCK_SIZE + 2 * RADIUS];
    int gindex = threadIdx.x + blockIdx.x * blockDim.x;
    int lindex = threadIdx.x + RADIUS;

    temp[lindex] = gindex < n ? in[gindex] : 0.0f;
    if (threadIdx.x < RADIUS) {
        temp[lindex - RADIUS] = gindex >= RADIUS && gindex - RADIUS < n ? in[gindex - RADIUS] : 0.0f;
        temp[lindex + BLOCK_SIZE] = gindex + BLOCK_SIZE < n ? in[gindex + BLOCK_SIZE] : 0.0f;
    }
    __syncthreads();

    float result = 0;
    for (int offset = -RADIUS; offset <= RADIUS; offset++)
        result += temp[lindex + offset];
    if (gindex < n) out[gindex] = result;
}
