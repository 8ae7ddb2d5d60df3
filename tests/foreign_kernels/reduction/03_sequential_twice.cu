// buffers: X f32 in [N], Y f32 out [1]
// sizes: N=5; N=700; N=20011
// evo:workspace d_intermediate f32 [ceil_div(N, 512)]
// evo:launch shmem_reduce_kernel(d_intermediate, X, N) grid(ceil_div(N, 512)) block(512) shared(512 * 4)
// evo:launch shmem_reduce_kernel(Y, d_intermediate, ceil_div(N, 512)) grid(1) block(512) shared(512 * 4)

// The same kernel once more on what the blocks have left: enough for 512 * 512 elements.
__global__ void shmem_reduce_kernel(float * d_out, const float * d_in, int count)
{
    extern __shared__ float sdata[];

    int myId = threadIdx.x + blockDim.x * blockIdx.x;
    int tid  = threadIdx.x;

    sdata[tid] = myId < count ? d_in[myId] : 0;
    __syncthreads();            // make sure entire block is loaded!

    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1)
    {
        if (tid < s)
        {
            sdata[tid] += sdata[tid + s];
        }
        __syncthreads();        // make sure all adds at one stage are done!
    }

    if (tid == 0)
    {
        d_out[blockIdx.x] = sdata[0];
    }
}
