// The rows of a table by their indices. One thread copies one row.
// evo:launch embedding_gather_reference(indices, W, Y, TOKENS, WIDTH) grid(ceil_div(TOKENS, 64)) block(64)

__global__ void embedding_gather_reference(const int* indices, const float* W, double* Y, int tokens, int width) {
  const int token = blockIdx.x * blockDim.x + threadIdx.x;
  if (token >= tokens) return;
  const long long from = (long long)indices[token] * width;
  const long long to = (long long)token * width;
  for (int c = 0; c < width; ++c) Y[to + c] = W[from + c];
}
