// Queries, keys and values of a transformer: bias added, heads to the front, one block a token.
// buffers: qkv f32 in [B, S, 3, NH, D], bias f32 in [3, NH, D], q f32 out [B, NH, S, D], k f32 out [B, NH, S, D], v f32 out [B, NH, S, D]
// sizes: B=1 S=1 NH=1 D=4; B=2 S=5 NH=3 D=8; B=1 S=7 NH=4 D=32
__global__ void add_bias_split_heads(const float* __restrict__ qkv, const float* __restrict__ bias, float* __restrict__ q,
                                     float* __restrict__ k, float* __restrict__ v, const int seq_len, const int head_num,
                                     const int size_per_head) {
  const int hidden = head_num * size_per_head;
  const int batch_id = blockIdx.x / seq_len;
  const int token_id = blockIdx.x % seq_len;
  for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
    const int head_id = i / size_per_head;
    const int lane = i % size_per_head;
    const int target = ((batch_id * head_num + head_id) * seq_len + token_id) * size_per_head + lane;
    const float* src = qkv + blockIdx.x * 3 * hidden;
    q[target] = src[i] + bias[i];
    k[target] = src[hidden + i] + bias[hidden + i];
    v[target] = src[2 * hidden + i] + bias[2 * hidden + i];
  }
}
// evo:launch add_bias_split_heads(qkv, bias, q, k, v, S, NH, D) grid(B * S) block(64)
