// Four elements a thread as one int4; what is before them comes by shuffles and references.
// buffers: X i32<7 in [N], Y i32 out [N]
// sizes: N=1; N=1000; N=1024; N=5003
// evo:workspace S i32 [ceil_div(N, 512)]
// evo:launch scan_tiles(X, Y, S, N) grid(ceil_div(N, 512)) block(128)
// evo:launch scan_totals(S, ceil_div(N, 512)) grid(1) block(128)
// evo:launch add_totals(Y, S, N) grid(ceil_div(N, 512)) block(128)
template <typename T>
__device__ __forceinline__ T warp_inclusive(T v)
{
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        T other = __shfl_up_sync(0xffffffff, v, d);
        if (lane >= d) v += other;
    }
    return v;
}

template <typename T>
__device__ T block_exclusive(T v, T *of_warps, T &total)
{
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    T inclusive = warp_inclusive(v);
    if (lane == 31) of_warps[warp] = inclusive;
    __syncthreads();
    if (warp == 0) {
        T t = lane < 4 ? of_warps[lane] : T(0);
        t = warp_inclusive(t);
        if (lane < 4) of_warps[lane] = t;
    }
    __syncthreads();
    total = of_warps[3];
    return inclusive - v + (warp > 0 ? of_warps[warp - 1] : T(0));
}

__global__ void scan_tiles(const int *in, int *out, int *totals, int n)
{
    __shared__ int of_warps[32];
    const int base = (blockIdx.x * 128 + threadIdx.x) * 4;
    int4 v = make_int4(0, 0, 0, 0);
    if (base + 3 < n) {
        v = reinterpret_cast<const int4 *>(in)[base / 4];
    } else {
        if (base < n) v.x = in[base];
        if (base + 1 < n) v.y = in[base + 1];
        if (base + 2 < n) v.z = in[base + 2];
    }
    int total;
    int before = block_exclusive(v.x + v.y + v.z + v.w, of_warps, total);
    int4 r = make_int4(before, before + v.x, before + v.x + v.y, before + v.x + v.y + v.z);
    if (base + 3 < n) {
        reinterpret_cast<int4 *>(out)[base / 4] = r;
    } else {
        if (base < n) out[base] = r.x;
        if (base + 1 < n) out[base + 1] = r.y;
        if (base + 2 < n) out[base + 2] = r.z;
    }
    if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

__global__ void scan_totals(int *totals, int tiles)
{
    __shared__ int of_warps[32];
    int carry = 0;
    for (int first = 0; first < tiles; first += 128) {
        int i = first + threadIdx.x;
        int total;
        int before = block_exclusive(i < tiles ? totals[i] : 0, of_warps, total);
        if (i < tiles) totals[i] = before + carry;
        carry += total;
        __syncthreads();
    }
}

__global__ void add_totals(int *out, const int *totals, int n)
{
    const int base = (blockIdx.x * 128 + threadIdx.x) * 4;
    for (int k = 0; k < 4; k++)
        if (base + k < n) out[base + k] += totals[blockIdx.x];
}
