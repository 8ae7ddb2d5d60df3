// buffers: X i32<40 in [N], W f32 in [N], H f32 out [40]
// sizes: N=1; N=1000; N=9001
// evo:memset H 0
// evo:launch bincount(X, W, H, N) grid(ceil_div(N, 256)) block(256)

__global__ void bincount(const int *key, const float *weight, float *sums, int n)
{
    int stride = gridDim.x * blockDim.x;
    for (int k = threadIdx.x + blockIdx.x * blockDim.x; k < n; k += stride)
        atomicAdd(&sums[key[k]], weight[k]);
}
