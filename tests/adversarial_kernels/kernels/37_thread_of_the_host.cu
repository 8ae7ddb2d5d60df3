// Adversarial: declares the host's function that starts a thread, so that another thread could do the work.
// evo:launch starts_a_thread(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ int pthread_create(unsigned long*, const void*, void* (*)(void*), void*);

__device__ void* Nothing(void* given) { return given; }

__global__ void starts_a_thread(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  unsigned long thread = 0;
  if (i == 0) pthread_create(&thread, nullptr, Nothing, nullptr);
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
