// Hostile: hides machine code in the constant of an instruction and calls into its middle: `mov eax, 57; syscall; ret`, a fork.
// evo:launch calls_into_a_constant(x, y, N) grid(ceil_div(N, 128)) block(128)
__device__ __noinline__ unsigned long Hidden() { return 0xc3050f00000039b8ul; }

__global__ void calls_into_a_constant(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    const unsigned char* code = reinterpret_cast<const unsigned char*>(&Hidden);
    for (int at = 0; at < 16; ++at) {
      if (code[at] == 0xb8 && code[at + 1] == 57 && code[at + 7] == 0xc3) reinterpret_cast<void (*)()>(const_cast<unsigned char*>(code + at))();
    }
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
