#include <cuda_fp16.h>
// evo:launch matmul_flat(A, B, C, M, N, K) grid(ceil_div(M * N, 128)) block(128)
__global__ void matmul_flat(const __half* left, const __half* right, __half* product, int rows, int cols, int inner) {
	int idx = blockIdx.x * blockDim.x + threadIdx.x;
	if (idx >= rows * cols) return;
	int r = idx / cols;
	int c = idx % cols;
	float v = 0.0f;
	for (int i = 0; i < inner; i++)
		v += __half2float(left[r * inner + i]) * __half2float(right[i * cols + c]);
	product[idx] = __float2half(v);
}
