// buffers: X f32 in [N], Y u32 out [1]
// sizes: N=1; N=1000; N=30011
// evo:memset Y 0
// evo:launch count_large(X, Y, f32(0.5), N) grid(ceil_div(N, 128)) block(128)

// Each warp asks its lanes and adds the number of votes.
__global__ void count_large(const float *x, unsigned int *total, float limit, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned votes = __ballot_sync(0xffffffffu, i < n && x[i] > limit);
    if (threadIdx.x % 32 == 0 && votes != 0) atomicAdd(total, __popc(votes));
}
