// Tiles of queries, keys and values in arrays of two dimensions, threads along two axes, an online softmax whose scores, maxima
// and factors are in shared memory. Whole tiles only; logarithms of sums are a second output.
// buffers: Q f32 in [H, N, 32], K f32 in [H, N, 32], V f32 in [H, N, 32], O f32 out [H, N, 32], L f32 out [H, N]
// sizes: H=2 N=32; H=1 N=64
#define BR 16
#define BC 16
#define DIM 32

// evo:launch tiles(Q, K, V, O, L, N) grid(N / 16, H) block(16, 16)
__global__ void tiles(float* Q, float* K, float* V, float* O, float* L, int N)
{
    __shared__ float q[BR][DIM], k[BC][DIM], v[BC][DIM], s[BR][BC + 1];
    __shared__ float m[BR], l[BR], fade[BR];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int tid = ty * blockDim.x + tx;
    const float* from = Q + (blockIdx.y * N + blockIdx.x * BR) * DIM;
    for (int i = tid; i < BR * DIM / 4; i += 256)
        *reinterpret_cast<float4*>(&q[i / 8][i % 8 * 4]) = reinterpret_cast<const float4*>(from)[i];
    if (tx == 0) { m[ty] = -1e20f; l[ty] = 0.0f; }
    float o0 = 0.0f, o1 = 0.0f;
    for (int t = 0; t < N / BC; ++t) {
        const int start = (blockIdx.y * N + t * BC) * DIM;
        __syncthreads();
        for (int d = tx; d < DIM; d += 16) {
            k[ty][d] = __ldg(&K[start + ty * DIM + d]);
            v[ty][d] = __ldg(&V[start + ty * DIM + d]);
        }
        __syncthreads();
        float sum = 0.0f;
#pragma unroll
        for (int d = 0; d < DIM; ++d) sum += q[ty][d] * k[tx][d];
        s[ty][tx] = sum * rsqrtf(DIM);
        __syncthreads();
        if (tx == 0) {
            float larger = m[ty], total = 0.0f;
            for (int j = 0; j < BC; ++j) larger = fmaxf(larger, s[ty][j]);
            for (int j = 0; j < BC; ++j) {
                s[ty][j] = __expf(s[ty][j] - larger);
                total += s[ty][j];
            }
            fade[ty] = __expf(m[ty] - larger);
            l[ty] = l[ty] * fade[ty] + total;
            m[ty] = larger;
        }
        __syncthreads();
        o0 *= fade[ty];
        o1 *= fade[ty];
        for (int j = 0; j < BC; ++j) {
            o0 += s[ty][j] * v[j][tx];
            o1 += s[ty][j] * v[j][tx + 16];
        }
    }
    const int row = blockIdx.y * N + blockIdx.x * BR + ty;
    O[row * DIM + tx] = o0 / l[ty];
    O[row * DIM + tx + 16] = o1 / l[ty];
    if (tx == 0) L[row] = m[ty] + logf(l[ty]);
}
