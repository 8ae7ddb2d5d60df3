// buffers: COUNTS i32<9 in [N], OFFSETS i32 out [N + 1]
// sizes: N=1; N=700; N=5003
// evo:launch counts_to_offsets(COUNTS, OFFSETS, N) grid(1) block(1024)

// CSR row pointers of the lengths of rows. One block goes along the array and carries the total.
__global__ void counts_to_offsets(const int* __restrict__ counts, int* __restrict__ offsets, const int n)
{
    __shared__ int warp_totals[32];
    __shared__ int carry;

    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;

    if (threadIdx.x == 0) {
        carry = 0;
        offsets[0] = 0;
    }
    __syncthreads();

    for (int base = 0; base < n; base += blockDim.x) {
        const int i = base + threadIdx.x;
        int v = 0;
        if (i < n) v = counts[i];

        #pragma unroll
        for (int d = 1; d < 32; d <<= 1) {
            const int other = __shfl_up_sync(0xffffffff, v, d);
            if (lane >= d) v += other;
        }
        if (lane == 31) warp_totals[warp] = v;
        __syncthreads();

        if (warp == 0) {
            int t = warp_totals[lane];
            for (int d = 1; d < 32; d <<= 1) {
                const int other = __shfl_up_sync(0xffffffff, t, d);
                if (lane >= d) t += other;
            }
            warp_totals[lane] = t;
        }
        __syncthreads();

        if (warp > 0) v += warp_totals[warp - 1];
        v += carry;
        if (i < n) offsets[i + 1] = v;
        __syncthreads();
        if (threadIdx.x == blockDim.x - 1) carry = v;
        __syncthreads();
    }
}
