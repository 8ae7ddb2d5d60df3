// A launch for each distance, between two buffers; which one has the result depends on how many there were.
// buffers: A i32<1000 inout [N], B i32<1000 inout [N]
// sizes: N=2; N=3; N=9; N=300; N=5003
// evo:repeat K < ceil_log(N, 2)
// evo:launch add_left(A, B, power(2, K), N) grid(ceil_div(N, 128)) block(128)
// evo:swap A B
// evo:end

__global__ void add_left(const int *from, int *to, int distance, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (i < distance)
        to[i] = from[i];
    else
        to[i] = from[i] + from[i - distance];
}
