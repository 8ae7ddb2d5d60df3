// A tree in memory: a launch for each level up, its root cleared, and a launch for each level down. Of powers of two.
// buffers: T i32<1000 inout [N]
// sizes: N=2; N=64; N=1024
// evo:repeat U < ceil_log(N, 2)
// evo:launch up(T, N, power(2, U)) grid(ceil_div(N, 2 * 128 * power(2, U))) block(128)
// evo:end
// evo:launch clear(T, i64(N - 1)) grid(1) block(1)
// evo:repeat D < ceil_log(N, 2)
// evo:launch down(T, N, N / 2 / power(2, D)) grid(ceil_div(power(2, D), 128)) block(128)
// evo:end

__global__ void up(int* tree, int n, int step) {
  int k = (blockIdx.x * blockDim.x + threadIdx.x + 1) * step * 2 - 1;
  if (k < n) tree[k] += tree[k - step];
}

__global__ void clear(int* tree, long long at) { tree[at] = 0; }

__global__ void down(int* tree, int n, int step) {
  int k = (blockIdx.x * blockDim.x + threadIdx.x + 1) * step * 2 - 1;
  if (k >= n) return;
  int left = tree[k - step];
  tree[k - step] = tree[k];
  tree[k] += left;
}
