// A cube, whose one size is that of all its sides, and weights that are single numbers in constant memory.
// buffers: in f32 in [N, N, N], weights f32 in [1], sides f32 in [1], out f32 out [N, N, N]
// sizes: N=3; N=13; N=36
// evo:constant middle = weights
// evo:constant side = sides
// evo:launch sweep(in, out, N) grid(ceil_div(N, 4), ceil_div(N, 4), ceil_div(N, 4)) block(4, 4, 4)

__constant__ float middle;
__constant__ float side;

__global__ void sweep(float *in, float *out, int n)
{
    int i = threadIdx.z + blockIdx.z * blockDim.z, j = threadIdx.y + blockIdx.y * blockDim.y,
        k = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= 1 && i < n - 1 && j >= 1 && j < n - 1 && k >= 1 && k < n - 1)
        out[i * n * n + j * n + k] = middle * in[i * n * n + j * n + k] + side * in[i * n * n + j * n + (k - 1)] +
                                     side * in[i * n * n + j * n + (k + 1)] + side * in[i * n * n + (j - 1) * n + k] +
                                     side * in[i * n * n + (j + 1) * n + k] + side * in[(i - 1) * n * n + j * n + k] +
                                     side * in[(i + 1) * n * n + j * n + k];
}
