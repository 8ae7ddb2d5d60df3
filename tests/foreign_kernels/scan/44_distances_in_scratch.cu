// A launch for each distance, in scratch memory.
// buffers: X u32<1000 in [N], Y u32 out [N]
// sizes: N=1; N=2; N=300; N=5003
// evo:workspace A u32 [N]
// evo:workspace B u32 [N]
// evo:launch copied(X, A, N) grid(ceil_div(N, 256)) block(256)
// evo:repeat K < ceil_log(N, 2)
// evo:launch doubled(A, B, N, K) grid(ceil_div(N, 256)) block(256)
// evo:swap A B
// evo:end
// evo:launch copied(A, Y, N) grid(ceil_div(N, 256)) block(256)

__global__ void copied(const unsigned *from, unsigned *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}

__global__ void doubled(const unsigned *in, unsigned *out, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i >= (1 << k) ? in[i] + in[i - (1 << k)] : in[i];
}
