// buffers: X u32<100 in [N], Y u32 out [N]
// sizes: N=1; N=300; N=5003
// evo:workspace offsets u32 [ceil_div(N, 1024)]
// evo:launch partials(X, offsets, N) grid(ceil_div(N, 1024)) block(256)
// evo:launch offsets_of(offsets, ceil_div(N, 1024)) grid(1) block(32)
// evo:launch write_out(X, offsets, Y, N) grid(ceil_div(N, 1024)) block(256)
typedef unsigned int uint32;
#define ITEMS 4
#define THREADS 256
#define AT(k) (blockIdx.x * (THREADS * ITEMS) + threadIdx.x * ITEMS + (k))
#define LOAD(p, i, n) ((i) < (n) ? (p)[i] : 0u)

// Reduce, then scan, then scan again.
__global__ void partials(const uint32 *in, uint32 *offsets, uint32 n)
{
    __shared__ uint32 total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    uint32 mine = 0;
    for (int k = 0; k < ITEMS; ++k) mine += LOAD(in, AT(k), n);
    __shared__ uint32 all[THREADS];
    all[threadIdx.x] = mine;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) all[threadIdx.x] += all[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) offsets[blockIdx.x] = all[0];
}

__global__ void offsets_of(uint32 *offsets, int count)
{
    if (threadIdx.x != 0) return;
    uint32 sum = 0;
    for (int i = 0; i < count; ++i) {
        uint32 t = offsets[i];
        offsets[i] = sum;
        sum += t;
    }
}

__global__ void write_out(const uint32 *in, const uint32 *offsets, uint32 *out, uint32 n)
{
    __shared__ uint32 all[THREADS];
    uint32 mine = 0;
    for (int k = 0; k < ITEMS; ++k) mine += LOAD(in, AT(k), n);
    all[threadIdx.x] = mine;
    for (int d = 1; d < THREADS; d *= 2) {
        __syncthreads();
        uint32 left = threadIdx.x >= d ? all[threadIdx.x - d] : 0;
        __syncthreads();
        all[threadIdx.x] += left;
    }
    uint32 before = offsets[blockIdx.x] + all[threadIdx.x] - mine;
    for (int k = 0; k < ITEMS; ++k) {
        if (AT(k) < n) {
            out[AT(k)] = before;
            before += in[AT(k)];
        }
    }
}
