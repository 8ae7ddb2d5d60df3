// Weighted means along the columns of pictures that have whole tiles only; each thread stores four pixels. Around is zero.
// buffers: A f32 in [H, W], B f32 out [H, W]
// sizes: H=32 W=16; H=64 W=48; H=96 W=160
#define R 2
#define ALONG 16
#define TALL 8
#define EACH 4
// evo:launch columns(B, A, W, H) grid(W / 16, H / (4 * 8)) block(16, 8)
__constant__ float weights[2 * R + 1] = {0.1f, 0.2f, 0.4f, 0.2f, 0.1f};
__global__ void columns(float *to, const float *from, int width, int height)
{
    __shared__ float line[(EACH + 2) * TALL][ALONG];
    const int first = (blockIdx.y * EACH - 1) * TALL + threadIdx.y, column = blockIdx.x * ALONG + threadIdx.x;
    for (int part = 0; part < EACH + 2; part++) {
        const int row = first + part * TALL;
        line[threadIdx.y + part * TALL][threadIdx.x] = row >= 0 && row < height ? from[row * width + column] : 0.0f;
    }
    __syncthreads();
    for (int part = 1; part <= EACH; part++) {
        float sum = 0.0f;
        for (int k = -R; k <= R; k++) sum += weights[R - k] * line[threadIdx.y + part * TALL + k][threadIdx.x];
        to[(first + part * TALL) * width + column] = sum;
    }
}
