// Adversarial: launches a child kernel by calling the run-time library, whose names it builds with macros.
// evo:launch starter(x, y, N) grid(1) block(1)
#define JOIN(a, b) a##b
extern "C" __device__ void* JOIN(cudaGetParameter, BufferV2)(void* kernel, dim3 grid, dim3 block, unsigned shared);
extern "C" __device__ int JOIN(cudaLaunch, DeviceV2)(void* parameters, void* stream);

struct Arguments {
  const float* x;
  float* y;
  int n;
};

__global__ void works(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}

__global__ void starter(const float* x, float* y, int n) {
  void* const parameters = JOIN(cudaGetParameter, BufferV2)(reinterpret_cast<void*>(&works), dim3((n + 127) / 128), dim3(128), 0);
  *static_cast<Arguments*>(parameters) = {x, y, n};
  JOIN(cudaLaunch, DeviceV2)(parameters, nullptr);
}
