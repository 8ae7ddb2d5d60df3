// buffers: X f32 in [N], Y f32 out [1]
// sizes: N=1; N=1000; N=30011
// evo:workspace partial f32 [64]
// evo:launch transform_reduce<float, Square<float>, Plus<float>>(X, partial, N) grid(64) block(128)
// evo:launch transform_reduce<float, Identity<float>, Plus<float>>(partial, Y, 64) grid(1) block(128)

template <typename T>
struct Plus {
  __device__ T operator()(const T& a, const T& b) const { return a + b; }
  __device__ T identity() const { return T(0); }
};

template <typename T>
struct Square {
  __device__ T operator()(const T& x) const { return x * x; }
};

template <typename T>
struct Identity {
  __device__ T operator()(const T& x) const { return x; }
};

template <typename T, typename Map, typename Reduce>
__global__ void transform_reduce(const T* first, T* result, int count) {
  __shared__ T scratch[128];
  Map map;
  Reduce reduce;
  T value = reduce.identity();
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < count; i += blockDim.x * gridDim.x)
    value = reduce(value, map(first[i]));
  scratch[threadIdx.x] = value;
  for (int width = blockDim.x / 2; width > 0; width /= 2) {
    __syncthreads();
    if (threadIdx.x < width) scratch[threadIdx.x] = reduce(scratch[threadIdx.x], scratch[threadIdx.x + width]);
  }
  if (threadIdx.x == 0) result[blockIdx.x] = scratch[0];
}
