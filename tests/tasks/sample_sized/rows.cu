// evo:size WIDTH = W
// evo:launch rows(X, V, Y, H) grid(ceil_div(H, 64)) block(64)

#ifndef WIDTH
#define WIDTH 1024
#endif

__global__ void rows(const float *x, const float *v, float *y, int height)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= height) return;
    float sum = 0.0f;
    for (int k = 0; k < WIDTH; k++) {
        sum += x[row * WIDTH + k] * v[k];
    }
    y[row] = sum;
}
