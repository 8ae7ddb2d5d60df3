// buffers: A f32 in [N, N], B f32 in [N, N], X f32 in [N], T f32 inout [N], Y f32 inout [N]
// sizes: N=1; N=70; N=129
// evo:launch gesummv(N, f32(1.5), f32(1.2), A, B, T, X, Y) grid(ceil_div(N, 256)) block(256)

typedef float DATA;

// Both sums grow in memory, on top of what is there.
__global__ void gesummv(int n, DATA alpha, DATA beta, DATA *A, DATA *B, DATA *tmp, DATA *x, DATA *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
	{
		int j;
		for (j = 0; j < n; j++)
		{
			tmp[i] += A[i * n + j] * x[j];
			y[i] += B[i * n + j] * x[j];
		}
		y[i] = alpha * tmp[i] + beta * y[i];
	}
}
