// The operations of wgmma_tiles.cuh: products, barriers of a cluster, copies, and registers to and from shared memory. The
// template defines BF16, LINEAR and CLUSTER.
#pragma once
#include "../attention/element.cuh"
#include "../attention/warp_groups.cuh"

constexpr int kRowBytes = 128;

#define OPERANDS_8(d, i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define OPERANDS_32(d, i) OPERANDS_8(d, i), OPERANDS_8(d, i + 8), OPERANDS_8(d, i + 16), OPERANDS_8(d, i + 24)
#define OPERANDS_64(d) OPERANDS_32(d, 0), OPERANDS_32(d, 32)
#define OPERANDS_96(d) OPERANDS_64(d), OPERANDS_32(d, 64)
#define OPERANDS_128(d) OPERANDS_96(d), OPERANDS_32(d, 96)
#define NAMES_64                                                                                                     \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,"   \
  "%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57," \
  "%58,%59,%60,%61,%62,%63"
#define NAMES_96                                                                                                               \
  NAMES_64                                                                                                                     \
  ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%" \
  "94,%95"
#define NAMES_128                                                                                               \
  NAMES_96                                                                                                      \
  ",%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,%117," \
  "%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"

// d (+)= a * b for 64 rows, `columns` columns and 16 terms; both by descriptors. The last arguments are the numbers of the
// operands that follow the sums.
#define DEFINE_PRODUCT(columns, sums, n0, n1, n2, n3)                                                              \
  __device__ __forceinline__ void Multiply(float(&d)[sums], unsigned long long a, unsigned long long b, int add) { \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #n2                                                          \
                 ", 0;\n"                                                                                          \
                 "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." ELEMENT_NAME "." ELEMENT_NAME             \
                 " "                                                                                               \
                 "{" NAMES_##sums "}, %" #n0 ", %" #n1 ", p, 1, 1, 0, %" #n3 ";\n}"                                \
                 : OPERANDS_##sums(d)                                                                              \
                 : "l"(a), "l"(b), "r"(add), "n"(LINEAR ? 0 : 1));                                                 \
  }
DEFINE_PRODUCT(128, 64, 64, 65, 66, 67)
DEFINE_PRODUCT(192, 96, 96, 97, 98, 99)
DEFINE_PRODUCT(256, 128, 128, 129, 130, 131)

// Describes a tile to the tensor cores (PTX ISA, wgmma, "Matrix descriptor format"). Bits 0 to 13: its address; 16 to 29: the
// distance of panels, for an operand whose rows lie along k; 32 to 45: the distance of groups of eight rows; all in units of 16
// bytes. Bits 62 and 63: 1, the swizzle of 128 bytes. The high word never changes. Adding to the low word moves the tile.
__device__ __forceinline__ unsigned LowWord(unsigned address, unsigned panel) {
  return panel >> 4 << 16 | (address & 0x3ffff) >> 4;
}
__device__ __forceinline__ unsigned long long Descriptor(unsigned low) {
  constexpr unsigned kHigh = 1u << 30 | kSwizzleBytes >> 4;
  return static_cast<unsigned long long>(kHigh) << 32 | low;
}

__device__ __forceinline__ void InitBarrier(unsigned barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// Lane l of a warp arrives at the barrier of block l of the cluster.
__device__ __forceinline__ void ArriveFromWarp(unsigned barrier) {
  const unsigned lane = threadIdx.x % 32;
#if CLUSTER > 1
  // A predicate keeps the lanes together.
  asm volatile(
      "{\n.reg .pred p;\n.reg .b32 there;\nsetp.lt.u32 p, %1, %2;\n@p mapa.shared::cluster.u32 there, %0, %1;\n"
      "@p mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
      "r"(lane), "n"(CLUSTER)
      : "memory");
#else
  if (lane == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
#endif
}

// All threads of the cluster.
__device__ __forceinline__ void SyncCluster() {
#if CLUSTER > 1
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
#else
  __syncthreads();
#endif
}

// Brings a box to this block and tells the barrier; elements outside of the matrix arrive as zeros. If `shared`, to the same
// place of every block of the cluster, whose barriers learn of it.
template <bool shared>
__device__ __forceinline__ void CopyPanel(unsigned to, const TensorMap* map, int column, int row, unsigned barrier) {
#if CLUSTER > 1
  if (shared) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%3, %4}], [%2], %5;" ::"r"(to),
        "l"(map), "r"(barrier), "r"(column), "r"(row), "h"(static_cast<unsigned short>((1 << CLUSTER) - 1))
        : "memory");
    return;
  }
#endif
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(to),
      "l"(map), "r"(barrier), "r"(column), "r"(row)
      : "memory");
}

// Four matrices of 8 x 8 elements from registers to shared memory: lane l gives the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void StoreMatrices(unsigned to, const unsigned (&pairs)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(pairs[0]), "r"(pairs[1]),
               "r"(pairs[2]), "r"(pairs[3])
               : "memory");
}

// The offset of 16 bytes of a row in swizzled rows of 128 bytes.
__device__ __forceinline__ int Swizzled(int row, int chunk) { return row * kRowBytes + (chunk ^ row % 8) * 16; }

__device__ __forceinline__ float ToFloat(Element x) {
#if BF16
  return __bfloat162float(x);
#else
  return __half2float(x);
#endif
}

__device__ __forceinline__ float Gelu(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); }
