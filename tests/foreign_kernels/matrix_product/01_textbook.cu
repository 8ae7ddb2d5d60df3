// The kernel that most books begin with: square matrices, one thread an element.
// buffers: M f32 in [W, W], N f32 in [W, W], P f32 out [W, W]
// sizes: W=37; W=16
// evo:launch matrixMulKernel(M, N, P, W) grid(ceil_div(W, 16), ceil_div(W, 16)) block(16, 16)
__global__ void matrixMulKernel(float* M, float* N, float* P, int width) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if ((row < width) && (col < width)) {
        float value = 0;
        // each thread computes one element of the block sub-matrix
        for (int k = 0; k < width; ++k) {
            value += M[row * width + k] * N[k * width + col];
        }
        P[row * width + col] = value;
    }
}
