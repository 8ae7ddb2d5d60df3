// Honest: inline PTX with a register of its own and no variable.
// evo:launch registers_only(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void registers_only(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  float sum;
  asm("{\n\t.reg .f32 first;\n\tmov.f32 first, %1;\n\tadd.f32 %0, first, %2;\n\t}" : "=f"(sum) : "f"(x[i]), "f"(x[n - 1 - i]));
  y[i] = sum;
}
