// A block a row, four elements a thread at once, in rounds with what is before them; its numbers are constants of an enum.
// buffers: X i32 in [R, C], Y i32 out [R, C]
// sizes: R=1 C=4; R=3 C=280; R=2 C=1204

// evo:launch sum_up_rows(X, Y, C) grid(R) block(64)
enum { kThreads = 64, kEach = 4 };

__device__ int SumBefore(int own, int* sums) {
    sums[threadIdx.x] = own;
    __syncthreads();
    for (int d = 1; d < kThreads; d *= 2) {
        const int more = threadIdx.x >= d ? sums[threadIdx.x - d] : 0;
        __syncthreads();
        sums[threadIdx.x] += more;
        __syncthreads();
    }
    return sums[threadIdx.x] - own;
}

__global__ void sum_up_rows(const int* x, int* y, int columns) {
    __shared__ int sums[kThreads];
    const int4* from = reinterpret_cast<const int4*>(x + blockIdx.x * columns);
    int4* to = reinterpret_cast<int4*>(y + blockIdx.x * columns);
    int carried = 0;
    for (int first = 0; first < columns / kEach; first += kThreads) {
        const int i = first + threadIdx.x;
        int4 v = make_int4(0, 0, 0, 0);
        if (i < columns / kEach) v = from[i];
        v.y += v.x;
        v.z += v.y;
        v.w += v.z;
        const int before = carried + SumBefore(v.w, sums);
        if (i < columns / kEach) to[i] = make_int4(v.x + before, v.y + before, v.z + before, v.w + before);
        carried += sums[kThreads - 1];
        __syncthreads();
    }
}
