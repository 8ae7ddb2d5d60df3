// A course's first product: the width is a macro, and the sum is declared outside of the condition.
// buffers: A f32 in [W, W], B f32 in [W, W], C f32 out [W, W]
// sizes: W=37; W=16
// evo:size WIDTH = W
// evo:launch matmul(A, B, C) grid(ceil_div(W, 16), ceil_div(W, 16)) block(16, 16)
#ifndef WIDTH
#define WIDTH 1024
#endif

__global__ void matmul(float *a, float *b, float *c) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (row < WIDTH && col < WIDTH) {
        for (int i = 0; i < WIDTH; i++)
            sum += a[row * WIDTH + i] * b[i * WIDTH + col];
        c[row * WIDTH + col] = sum;
    }
}
