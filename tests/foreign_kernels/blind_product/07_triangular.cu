// B := alpha * A^T * B with A lower triangular of unit diagonal, not in place; pointers that walk, a loop that counts down.
// buffers: A f32 in [M, M], B f32 in [M, N], OUT f32 out [M, N]
// sizes: M=37 N=40; M=16 N=64; M=4 N=3
// evo:launch trmm_lower_transposed(A, B, OUT, f32(1.5), M, N) grid(ceil_div(N, 32), ceil_div(M, 4)) block(32, 4)
__global__ void trmm_lower_transposed(const float *A, const float *B, float *out, float alpha, int m, int n)
{
	const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
	const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;

	if (row < m) {
		if (col < n) {
			const float *pa = A + (m - 1) * m + row;
			const float *pb = B + (m - 1) * n + col;
			float acc = 0.0f;
			for (int k = m - 1; k > (int)row; --k) {
				acc += *pa * *pb;
				pa -= m;
				pb -= n;
			}
			acc += *pb;
			out[row * n + col] = alpha * acc;
		}
	}
}
