// buffers: a f32 inout [N]
// sizes: N=128; N=16384
// evo:counted a 1
// evo:repeat step < ceil_log(N, 2)
// evo:launch add_upper_half(a, N / 2 / power(2, step)) grid(ceil_div(N / 2 / power(2, step), 128)) block(128)
// evo:end

__global__ void add_upper_half(float* a, int half) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < half) a[i] = a[i] + a[i + half];
}
