// buffers: DATA f32 in [N, M], OUT f32 out [N, M], MEAN f32 out [M], STDDEV f32 out [M]
// sizes: N=1 M=1; N=45 M=70; N=200 M=33
// evo:launch mean_kernel(MEAN, DATA, M, N) grid(ceil_div(M, 256)) block(256)
// evo:launch std_kernel(MEAN, STDDEV, DATA, M, N) grid(ceil_div(M, 256)) block(256)
// evo:launch center_kernel(MEAN, STDDEV, DATA, OUT, M, N) grid(ceil_div(M, 32), ceil_div(N, 8)) block(32, 8)

typedef float DATA_TYPE;
#define FLOAT_N ((DATA_TYPE)n)
#define EPS 0.005f
#define sqrt_of_array_cell(x, j) sqrtf(x[j])

__global__ void mean_kernel(DATA_TYPE *mean, DATA_TYPE *data, int m, int n)
{
	int j = blockIdx.x * blockDim.x + threadIdx.x;

	if (j < m)
	{
		mean[j] = 0.0;

		int i;
		for (i = 0; i < n; i++)
		{
			mean[j] += data[i * m + j];
		}

		mean[j] /= FLOAT_N;
	}
}

__global__ void std_kernel(DATA_TYPE *mean, DATA_TYPE *std, DATA_TYPE *data, int m, int n)
{
	int j = blockIdx.x * blockDim.x + threadIdx.x;

	if (j < m)
	{
		std[j] = 0.0;

		int i;
		for (i = 0; i < n; i++)
		{
			std[j] += (data[i * m + j] - mean[j]) * (data[i * m + j] - mean[j]);
		}
		std[j] /= (FLOAT_N);
		std[j] = sqrt_of_array_cell(std, j);
		if (std[j] <= EPS)
		{
			std[j] = 1.0;
		}
	}
}

__global__ void center_kernel(DATA_TYPE *mean, DATA_TYPE *std, DATA_TYPE *data, DATA_TYPE *out, int m, int n)
{
	int j = blockIdx.x * blockDim.x + threadIdx.x;
	int i = blockIdx.y * blockDim.y + threadIdx.y;

	if ((i < n) && (j < m))
	{
		out[i * m + j] = (data[i * m + j] - mean[j]) / (sqrtf(FLOAT_N) * std[j]);
	}
}
