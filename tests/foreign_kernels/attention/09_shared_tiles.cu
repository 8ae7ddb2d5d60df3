// One thread a row, tiles of keys and values in shared memory, online softmax.
// buffers: Q f16 in [B, H, N, 32], K f16 in [B, H, N, 32], V f16 in [B, H, N, 32], O f16 out [B, H, N, 32]
// sizes: B=1 H=2 N=40; B=2 H=1 N=7
#include <cuda_fp16.h>
#define BC 32
#define DH 32

// evo:launch flash_forward(Q, K, V, O, N, f32(0.17677669)) grid(ceil_div(N, 32), H, B) block(32)
__global__ void flash_forward(const half* Q, const half* K, const half* V, half* O, int N, float softmax_scale) {
    int tx = threadIdx.x;
    int qkv_offset = (blockIdx.z * gridDim.y + blockIdx.y) * N * DH;
    int row = blockIdx.x * BC + tx;
    __shared__ float Kj[BC][DH];
    __shared__ float Vj[BC][DH];
    float Qi[DH], Oi[DH];
    for (int x = 0; x < DH; x++) {
        Qi[x] = row < N ? __half2float(Q[qkv_offset + row * DH + x]) : 0.0f;
        Oi[x] = 0.0f;
    }
    float row_m = -INFINITY, row_l = 0.0f;
    for (int j = 0; j < N; j += BC) {
        for (int x = 0; x < DH; x++) {
            Kj[tx][x] = j + tx < N ? __half2float(K[qkv_offset + (j + tx) * DH + x]) : 0.0f;
            Vj[tx][x] = j + tx < N ? __half2float(V[qkv_offset + (j + tx) * DH + x]) : 0.0f;
        }
        __syncthreads();
        for (int y = 0; y < BC && j + y < N; y++) {
            float sum = 0;
            for (int x = 0; x < DH; x++) sum += Qi[x] * Kj[y][x];
            sum *= softmax_scale;
            float row_m_new = max(row_m, sum);
            float scale_old = __expf(row_m - row_m_new);
            float p = __expf(sum - row_m_new);
            row_l = row_l * scale_old + p;
            for (int x = 0; x < DH; x++) Oi[x] = Oi[x] * scale_old + p * Vj[y][x];
            row_m = row_m_new;
        }
        __syncthreads();
    }
    if (row < N) {
        for (int x = 0; x < DH; x++) O[qkv_offset + row * DH + x] = __float2half(Oi[x] / row_l);
    }
}
