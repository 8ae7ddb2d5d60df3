// buffers: X f32 in [N], Y f32 out [N]
// sizes: N=1; N=300; N=1003
// evo:launch naive_prefix(Y, X, i64(N)) grid(ceil_div(N, 64)) block(64)

__global__ void naive_prefix(float* result, const float* values, size_t count)
{
    size_t gid = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (gid >= count)
        return;
    float sum = 0;
    for (size_t j = 0; j <= gid; j++)
        sum += values[j];
    result[gid] = sum;
}
