// A mask of keys: those with a zero are left out by a large negative score. Three passes, floats.
// buffers: query f32 in [B, H, N, 32], key f32 in [B, H, N, 32], value f32 in [B, H, N, 32], mask i32<2 in [B, N], context f32 out [B, H, N, 32]
// sizes: B=2 H=2 N=35; B=1 H=3 N=9
#define HEAD_SIZE 32
#define MASKED -10000.0f

__device__ float masked_score(const float* q, const float* k, int keep) {
  float dot = 0.0f;
  for (int i = 0; i < HEAD_SIZE; ++i) dot = fmaf(q[i], k[i], dot);
  return keep ? dot * 0.17677669529f : MASKED;
}

// evo:launch bert_self_attention(query, key, value, mask, context, N) grid(ceil_div(N, 128), H, B) block(128)
__global__ void bert_self_attention(const float* query, const float* key, const float* value, const int* mask, float* context,
                                    int seq) {
  int from = blockIdx.x * 128 + threadIdx.x;
  if (from < seq) {
    const int offset = (blockIdx.z * gridDim.y + blockIdx.y) * seq * HEAD_SIZE;
    const int* keep = mask + blockIdx.z * seq;
    const float* q = query + offset + from * HEAD_SIZE;
    float highest = MASKED;
    for (int to = 0; to < seq; ++to) {
      float x = masked_score(q, key + offset + to * HEAD_SIZE, keep[to]);
      if (x > highest) highest = x;
    }
    float total = 0.0f;
    for (int to = 0; to < seq; ++to) total += expf(masked_score(q, key + offset + to * HEAD_SIZE, keep[to]) - highest);
    for (int i = 0; i < HEAD_SIZE; ++i) {
      float mixed = 0.0f;
      for (int to = 0; to < seq; ++to) {
        float p = expf(masked_score(q, key + offset + to * HEAD_SIZE, keep[to]) - highest) / total;
        mixed += p * value[offset + to * HEAD_SIZE + i];
      }
      context[offset + from * HEAD_SIZE + i] = mixed;
    }
  }
}
