// A launch for each distance, and one that copies its result to where the next one reads it.
// buffers: A f64 inout [N], B f64 out [N]
// sizes: N=1; N=2; N=300; N=2051
// evo:repeat K < ceil_log(N + 1, 2)
// evo:launch with_left(A, B, N, K) grid(ceil_div(N, 128)) block(128)
// evo:launch put_back(B, A, i64(N)) grid(ceil_div(N, 256)) block(256)
// evo:end

__global__ void with_left(const double *from, double *to, int n, int level)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int distance = 1 << level;
    if (i < n) {
        to[i] = from[i];
        if (i >= distance) to[i] += from[i - distance];
    }
}

__global__ void put_back(const double *from, double *to, long long count)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < count) to[i] = from[i];
}
