// evo:launch matmul_flat(A, B, C, M, N, K) grid(ceil_div(M * N, 128)) block(128)
__global__ void matmul_flat(const float* left, const float* right, float* product, int rows, int cols, int inner) {
	int idx = blockIdx.x * blockDim.x + threadIdx.x;
	if (idx >= rows * cols) return;
	int r = idx / cols;
	int c = idx % cols;
	float v = 0.0f;
	for (int i = 0; i < inner; i++)
		v += left[r * inner + i] * right[i * cols + c];
	product[idx] = v;
}
