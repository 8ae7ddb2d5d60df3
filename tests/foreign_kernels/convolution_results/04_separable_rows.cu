// Rows of a separable filter: several steps a thread, halos left and right, the filter in constant memory and turned round.
// buffers: src f32 in [H, 64 * B], taps f32 in [9], dst f32 out [H, 64 * B]
// sizes: H=8 B=2; H=4 B=5; H=12 B=1
#define RADIUS 4
#define DIM_X 16
#define DIM_Y 4
#define STEPS 4
#define HALO 1
__constant__ float c_taps[2 * RADIUS + 1];
// evo:constant c_taps = taps
// evo:launch rows(dst, src, 64 * B, H, 64 * B) grid(B, H / 4) block(16, 4)
__global__ void rows(float *d_Dst, const float *d_Src, int imageW, int imageH, int pitch)
{
    __shared__ float s_Data[DIM_Y][(STEPS + 2 * HALO) * DIM_X];
    const int baseX = (blockIdx.x * STEPS - HALO) * DIM_X + threadIdx.x;
    const int baseY = blockIdx.y * DIM_Y + threadIdx.y;
    d_Src += baseY * pitch + baseX;
    d_Dst += baseY * pitch + baseX;
#pragma unroll
    for (int i = HALO; i < HALO + STEPS; i++)
        s_Data[threadIdx.y][threadIdx.x + i * DIM_X] = d_Src[i * DIM_X];
#pragma unroll
    for (int i = 0; i < HALO; i++)
        s_Data[threadIdx.y][threadIdx.x + i * DIM_X] = (baseX >= -i * DIM_X) ? d_Src[i * DIM_X] : 0;
#pragma unroll
    for (int i = HALO + STEPS; i < HALO + STEPS + HALO; i++)
        s_Data[threadIdx.y][threadIdx.x + i * DIM_X] = (imageW - baseX > i * DIM_X) ? d_Src[i * DIM_X] : 0;
    __syncthreads();
#pragma unroll
    for (int i = HALO; i < HALO + STEPS; i++) {
        float sum = 0;
#pragma unroll
        for (int j = -RADIUS; j <= RADIUS; j++)
            sum += c_taps[RADIUS - j] * s_Data[threadIdx.y][threadIdx.x + i * DIM_X + j];
        d_Dst[i * DIM_X] = sum;
    }
}
