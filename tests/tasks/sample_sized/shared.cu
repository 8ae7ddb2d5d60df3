// evo:size WIDTH = W
// evo:size LAST = W - 1
// evo:param BLOCK 32 64 128
// evo:launch shared_rows<WIDTH>(X, V, Y, H) grid(ceil_div(H * WIDTH, BLOCK * WIDTH)) block(BLOCK)

#ifndef WIDTH
#define WIDTH 1024
#endif

#ifndef LAST
#define LAST 1023
#endif

#ifndef BLOCK
#define BLOCK 64
#endif

template <int kLength>
__global__ void shared_rows(const float *x, const float *v, float *y, int height)
{
    __shared__ float taps[WIDTH];
    for (int k = threadIdx.x; k <= LAST; k += BLOCK) taps[k] = v[k];
    __syncthreads();
    int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row < height) {
        float sum = 0.0f;
        for (int k = 0; k < kLength; k++) sum += x[row * kLength + k] * taps[k];
        y[row] = sum;
    }
}
