// buffers: L i32<9 in [R, C], S i32 out [R, C], T i32 out [R]
// sizes: R=1 C=1; R=70 C=45; R=3 C=2500
// evo:launch offsets(L, S, T, R, C) grid(ceil_div(R, 128)) block(128)

// Where each piece begins, two pieces apart, and how long all of them are.
__global__ void offsets(const int* length, int* start, int* all, int rows, int columns) {
  int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  int at = 0;
  for (int c = 0; c < columns; c += 1) {
    start[row * columns + c] = at;
    at = at + length[row * columns + c];
  }
  all[row] = at;
}
