// buffers: X i32<100 in [N], Y i32 out [N]
// sizes: N=1; N=300; N=5003
// evo:workspace A i32 [N]
// evo:workspace B i32 [N]
// evo:launch copy(X, A, N) grid(ceil_div(N, 256)) block(256)
// evo:repeat STEP < 13
// evo:launch step(A, B, N, STEP) grid(ceil_div(N, 256)) block(256)
// evo:swap A B
// evo:end
// evo:launch copy(A, Y, N) grid(ceil_div(N, 256)) block(256)

// A launch for each distance; enough for 8192 elements.
__global__ void copy(const int *from, int *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}

__global__ void step(const int *in, int *out, int n, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = i >= (1 << d) ? in[i] + in[i - (1 << d)] : in[i];
}
