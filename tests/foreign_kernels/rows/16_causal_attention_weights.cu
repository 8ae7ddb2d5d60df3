// buffers: A f32 in [R, R], W f32 out [R, R]
// sizes: R=1; R=45; R=130
// evo:launch causal_weights<float>(A, W, f32(0.125), R) grid(ceil_div(R, 64)) block(64)

// Row i of the scores attends to the first i + 1 keys; what is behind them is 0. No dropout.
template <typename scalar_t>
__global__ void causal_weights(const scalar_t* scores, scalar_t* weights, const float temperature, const int seq_len) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= seq_len) return;
  const scalar_t* score_row = scores + i * seq_len;
  scalar_t* weight_row = weights + i * seq_len;
  float max_val = -INFINITY;
  for (int k = 0; k <= i; ++k) {
    const float s = static_cast<float>(score_row[k]) * temperature;
    if (s > max_val) max_val = s;
  }
  float sum = 0.f;
  for (int k = 0; k <= i; ++k) {
    const float e = expf(static_cast<float>(score_row[k]) * temperature - max_val);
    weight_row[k] = static_cast<scalar_t>(e);
    sum += e;
  }
  for (int k = 0; k < seq_len; ++k) {
    weight_row[k] = k <= i ? static_cast<scalar_t>(weight_row[k] / sum) : static_cast<scalar_t>(0);
  }
}
