// Tiles of keys and values in shared memory, a thread a query: scores of a tile, its maximum, then the sums rescaled.
// buffers: Q f32 in [B, NH, N, D], K f32 in [B, NH, N, D], V f32 in [B, NH, N, D], O f32 out [B, NH, N, D]
// sizes: B=1 NH=2 N=37 D=32; B=2 NH=1 N=64 D=32; B=1 NH=1 N=5 D=32
// evo:launch flash_forward(Q, K, V, N, D, O) grid(ceil_div(N, 32), NH, B) block(32) shared(32 * (3 * D + 32) * 4)
#define Br 32
#define Bc 32

__global__
void flash_forward(const float* Q, const float* K, const float* V, const int N, const int d, float* O) {
    int tx = threadIdx.x;
    int by = blockIdx.y, bz = blockIdx.z;
    int qkv_offset = (bz * gridDim.y * N * d) + (by * N * d);  // of this batch and head

    // Shared memory for K, V, O, S
    extern __shared__ float sram[];
    int tile_size = Bc * d;
    float* Kj = sram;
    float* Vj = &sram[tile_size];
    float* Oi = &sram[tile_size * 2];
    float* S = &sram[tile_size * 3];

    int i = blockIdx.x * Br + tx;
    float softmax_scale = rsqrtf((float)d);
    float row_m = -INFINITY;
    float row_l = 0;
    for (int x = 0; x < d; x++) Oi[tx * d + x] = 0;

    for (int j = 0; j < (N + Bc - 1) / Bc; j++) {
        // each thread loads a row of the tile
        int key = j * Bc + tx;
        for (int x = 0; x < d; x++) {
            Kj[tx * d + x] = key < N ? K[qkv_offset + key * d + x] : 0.0f;
            Vj[tx * d + x] = key < N ? V[qkv_offset + key * d + x] : 0.0f;
        }
        __syncthreads();

        if (i < N) {
            int count = min(Bc, N - j * Bc);
            // S = QK^T, m = rowmax(S)
            float tile_m = -INFINITY;
            for (int y = 0; y < count; y++) {
                float sum = 0;
                for (int x = 0; x < d; x++) sum += Q[qkv_offset + i * d + x] * Kj[y * d + x];
                sum *= softmax_scale;
                S[tx * Bc + y] = sum;
                if (sum > tile_m) tile_m = sum;
            }

            // P = exp(S - m), l = rowsum(P)
            float new_m = max(row_m, tile_m);
            float tile_l = 0;
            for (int y = 0; y < count; y++) {
                S[tx * Bc + y] = __expf(S[tx * Bc + y] - new_m);
                tile_l += S[tx * Bc + y];
            }

            float rescale = __expf(row_m - new_m);
            for (int x = 0; x < d; x++) {
                float pv = 0;
                for (int y = 0; y < count; y++) pv += S[tx * Bc + y] * Vj[y * d + x];
                Oi[tx * d + x] = rescale * Oi[tx * d + x] + pv;
            }
            row_l = rescale * row_l + tile_l;
            row_m = new_m;
        }
        __syncthreads();
    }

    if (i < N)
        for (int x = 0; x < d; x++) O[qkv_offset + i * d + x] = Oi[tx * d + x] / row_l;
}
