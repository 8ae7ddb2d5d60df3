// A step of decoding with a struct of parameters: cache [B, HKV, CAPACITY, 128], groups of queries share a head of it. A warp a key at a time.
// buffers: q f16 in [B, HQ, 128], k_cache f16 in [B, HKV, CAPACITY, 128], v_cache f16 in [B, HKV, CAPACITY, 128], seq_lens i32<30 in [B], out f16 out [B, HQ, 128]
// sizes: B=2 HQ=4 HKV=2 CAPACITY=40; B=1 HQ=8 HKV=1 CAPACITY=64; B=3 HQ=2 HKV=2 CAPACITY=31
#include <cuda_fp16.h>

struct DecodeParams {
  const half* q;
  const half* k_cache;
  const half* v_cache;
  const int* seq_lens;
  half* out;
  int num_q_heads;
  int num_kv_heads;
  int capacity;
  float scale;
};

// evo:launch decode_attention<128, 4>({q, k_cache, v_cache, seq_lens, out, HQ, HKV, CAPACITY, f32(0.08838834764)}) grid(HQ, B) block(128) \
//   shared((CAPACITY + 8) * 4)
template <int kHeadDim, int kWarps>
__global__ void decode_attention(DecodeParams params) {
  extern __shared__ float smem[];
  float* scores = smem;
  float* reduce = smem + params.capacity;

  const int q_head = blockIdx.x;
  const int b = blockIdx.y;
  const int group = params.num_q_heads / params.num_kv_heads;
  const int kv_head = q_head / group;
  const int warp = threadIdx.x >> 5;
  const int lane = threadIdx.x & 31;
  const int length = params.seq_lens[b] + 1;

  const half2* q2 = reinterpret_cast<const half2*>(params.q + (b * params.num_q_heads + q_head) * kHeadDim);
  const size_t kv_offset = (size_t)(b * params.num_kv_heads + kv_head) * params.capacity * kHeadDim;
  const half* keys = params.k_cache + kv_offset;
  const half* values = params.v_cache + kv_offset;

  float2 qr[kHeadDim / 64];
  for (int i = 0; i < kHeadDim / 64; ++i) {
    qr[i] = __half22float2(q2[lane + i * 32]);
    qr[i].x *= params.scale;
    qr[i].y *= params.scale;
  }

  float warp_max = -INFINITY;
  for (int pos = warp; pos < length; pos += kWarps) {
    const half2* k2 = reinterpret_cast<const half2*>(keys + pos * kHeadDim);
    float s = 0.f;
    for (int i = 0; i < kHeadDim / 64; ++i) {
      const float2 kr = __half22float2(k2[lane + i * 32]);
      s += qr[i].x * kr.x + qr[i].y * kr.y;
    }
    for (int o = 16; o >= 1; o /= 2) s += __shfl_xor_sync(~0u, s, o);
    if (lane == 0) scores[pos] = s;
    warp_max = fmaxf(warp_max, s);
  }
  if (lane == 0) reduce[warp] = warp_max;
  __syncthreads();
  float block_max = reduce[0];
  for (int w = 1; w < kWarps; ++w) block_max = fmaxf(block_max, reduce[w]);

  float sum = 0.f;
  for (int pos = threadIdx.x; pos < length; pos += blockDim.x) {
    const float p = __expf(scores[pos] - block_max);
    scores[pos] = p;
    sum += p;
  }
  for (int o = 16; o >= 1; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
  if (lane == 0) reduce[kWarps + warp] = sum;
  __syncthreads();
  float total = 0.f;
  for (int w = 0; w < kWarps; ++w) total += reduce[kWarps + w];

  const float inv = 1.f / (total + 1e-6f);
  for (int d = threadIdx.x; d < kHeadDim; d += blockDim.x) {
    float acc = 0.f;
    for (int pos = 0; pos < length; ++pos) acc += scores[pos] * __half2float(values[pos * kHeadDim + d]);
    params.out[(b * params.num_q_heads + q_head) * kHeadDim + d] = __float2half(acc * inv);
  }
}
