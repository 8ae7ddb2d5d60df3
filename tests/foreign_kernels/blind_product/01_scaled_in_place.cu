// A benchmark code: C is scaled in memory, and each term of the sum is added to memory.
// buffers: A f32 in [NI, NK], B f32 in [NK, NJ], C f32 inout [NI, NJ]
// sizes: NI=37 NJ=70 NK=40; NI=16 NJ=32 NK=16; NI=3 NJ=5 NK=7
#include <cuda_runtime.h>

#define DATA_TYPE float
#define ALPHA 32412.0f
#define BETA 2123.0f

#define DIM_THREAD_BLOCK_X 32
#define DIM_THREAD_BLOCK_Y 8

// evo:launch gemm_kernel(NI, NJ, NK, A, B, C) grid(ceil_div(NJ, 32), ceil_div(NI, 8)) block(32, 8)
__global__ void gemm_kernel(int ni, int nj, int nk, DATA_TYPE *a, DATA_TYPE *b, DATA_TYPE *c)
{
	int j = blockIdx.x * blockDim.x + threadIdx.x;
	int i = blockIdx.y * blockDim.y + threadIdx.y;

	if ((i < ni) && (j < nj))
	{
		c[i * nj + j] *= BETA;
		int k;
		for (k = 0; k < nk; k++)
		{
			c[i * nj + j] += ALPHA * a[i * nk + k] * b[k * nj + j];
		}
	}
}
