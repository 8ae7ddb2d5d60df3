// buffers: P f32 in [N, 3], LO f32 out [3], HI f32 out [3]
// sizes: N=1; N=1000; N=9011
// evo:workspace lows f32 [24, 3]
// evo:workspace highs f32 [24, 3]
// evo:launch extent_of_block(P, N, lows, highs) grid(24) block(192)
// evo:launch extent_of_all(lows, highs, 24, LO, HI) grid(1) block(32)

// Axis-aligned box around points, three floats each.
struct Box { float3 lo, hi; };

__device__ __forceinline__ void grow(Box &box, float3 lo, float3 hi)
{
    box.lo.x = fminf(box.lo.x, lo.x); box.lo.y = fminf(box.lo.y, lo.y); box.lo.z = fminf(box.lo.z, lo.z);
    box.hi.x = fmaxf(box.hi.x, hi.x); box.hi.y = fmaxf(box.hi.y, hi.y); box.hi.z = fmaxf(box.hi.z, hi.z);
}

__device__ __forceinline__ void shuffle_in(Box &box)
{
    for (int d = 16; d; d >>= 1) {
        float3 lo, hi;
        lo.x = __shfl_down_sync(~0u, box.lo.x, d); lo.y = __shfl_down_sync(~0u, box.lo.y, d); lo.z = __shfl_down_sync(~0u, box.lo.z, d);
        hi.x = __shfl_down_sync(~0u, box.hi.x, d); hi.y = __shfl_down_sync(~0u, box.hi.y, d); hi.z = __shfl_down_sync(~0u, box.hi.z, d);
        grow(box, lo, hi);
    }
}

__global__ void extent_of_block(const float3 *p, int n, float3 *lows, float3 *highs)
{
    __shared__ Box boxes[6];
    Box box;
    box.lo = make_float3(1e30f, 1e30f, 1e30f);
    box.hi = make_float3(-1e30f, -1e30f, -1e30f);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        grow(box, p[i], p[i]);
    shuffle_in(box);
    if ((threadIdx.x & 31) == 0)
        boxes[threadIdx.x / 32] = box;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 6; w++)
            grow(boxes[0], boxes[w].lo, boxes[w].hi);
        lows[blockIdx.x] = boxes[0].lo;
        highs[blockIdx.x] = boxes[0].hi;
    }
}

__global__ void extent_of_all(const float3 *lows, const float3 *highs, int count, float3 *lo, float3 *hi)
{
    Box box;
    box.lo = make_float3(1e30f, 1e30f, 1e30f);
    box.hi = make_float3(-1e30f, -1e30f, -1e30f);
    for (int i = threadIdx.x; i < count; i += 32)
        grow(box, lows[i], highs[i]);
    shuffle_in(box);
    if (threadIdx.x == 0) {
        *lo = box.lo;
        *hi = box.hi;
    }
}
