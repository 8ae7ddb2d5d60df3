// A benchmark of compilers: a two-dimensional filter whose nine weights are local variables.
// buffers: A f32 in [NI, NJ], B f32 out [NI, NJ]
// sizes: NI=1 NJ=1; NI=13 NJ=20; NI=40 NJ=130
typedef float REAL;

__global__ void filter3x3(int ni, int nj, REAL *A, REAL *B)
{
	int col = blockIdx.x * blockDim.x + threadIdx.x;
	int row = blockIdx.y * blockDim.y + threadIdx.y;

	REAL w00, w01, w02, w10, w11, w12, w20, w21, w22;

	w00 = 0.25;  w01 = -0.5;  w02 = 0.125;
	w10 = -0.75; w11 = 0.6;   w12 = 0.35;
	w20 = 0.45;  w21 = -0.15; w22 = +0.05;

	if ((row > 0) && (col > 0) && (row < ni - 1) && (col < nj - 1))
	{
		B[row * nj + col] = w00 * A[(row - 1) * nj + (col - 1)] + w01 * A[(row - 1) * nj + (col + 0)]
			+ w02 * A[(row - 1) * nj + (col + 1)] + w10 * A[(row + 0) * nj + (col - 1)]
			+ w11 * A[(row + 0) * nj + (col + 0)] + w12 * A[(row + 0) * nj + (col + 1)]
			+ w20 * A[(row + 1) * nj + (col - 1)] + w21 * A[(row + 1) * nj + (col + 0)]
			+ w22 * A[(row + 1) * nj + (col + 1)];
	}
}
// evo:launch filter3x3(NI, NJ, A, B) grid(ceil_div(NJ, 32), ceil_div(NI, 8)) block(32, 8)
