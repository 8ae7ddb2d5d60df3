#include "mutators/parallelism/device_blocks.h"

#include <fmt/format.h>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/element_types.h"

namespace evo {

const DeviceBlock kCopyVector{"CopyVector",
                              R"(
// Copies WIDTH neighbouring elements to shared memory: the first `count`, and zeros after them. 16 bytes at once, asynchronously,
// where the address allows it.
__device__ __forceinline__ void CopyVector(Element* to, const Element* from, long long count) {
  if (count >= WIDTH && reinterpret_cast<size_t>(from) % 16 == 0) {
    __pipeline_memcpy_async(to, from, 16);
  } else {
    __align__(16) Element part[WIDTH];
#pragma unroll
    for (int i = 0; i < WIDTH; ++i) part[i] = i < count ? from[i] : Element(0.0f);
    *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(part);
  }
}

)"};

const DeviceBlock kLoadMatrices{"LoadMatrices", R"(
// Four matrices of 8 x WIDTH elements of shared memory: lane l gives the address of row l % 8 of number l / 8.
__device__ __forceinline__ void LoadMatrices(unsigned (&to)[4], const Element* from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(from)))
               : "memory");
}

)"};

const DeviceBlock kLoadTransposed{"LoadTransposed",
                                  R"(
// Four matrices of 8 x 8 elements of shared memory, each transposed: lane l gives the address of row l % 8 of number l / 8.
__device__ __forceinline__ void LoadTransposed(unsigned (&to)[4], const Element* from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(from)))
               : "memory");
}

)"};

const DeviceBlock kMultiplyAdd{"MultiplyAdd", R"(
// sums += a b on tensor cores, with a of 16 x 16 and b of 16 x 8 elements.
__device__ __forceinline__ void MultiplyAdd(float (&sums)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.ELEMENT.ELEMENT.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

)"};

const DeviceBlock kMultiplyAddBytes{"MultiplyAdd", R"(
// sums += a b on tensor cores, with a of 16 x 32 and b of 32 x 8 elements.
__device__ __forceinline__ void MultiplyAdd(int (&sums)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.ELEMENT.ELEMENT.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

)"};

const DeviceBlock kSplit{"Split", R"(
// 2^24 x as the sum of two numbers that tensor cores read (tf32): x rounded to 11 significant bits, and what that leaves over. No
// float is denormal after the multiplication, so that both have all their bits.
__device__ __forceinline__ void Split(unsigned& high, unsigned& low, float x) {
  const float scaled = x * 16777216.0f;
  high = (__float_as_uint(scaled) + 0x1000) & 0xffffe000;
  low = __float_as_uint(scaled - __uint_as_float(high));
}

)"};

const DeviceBlock kMultiplyAddTf32{"MultiplyAdd", R"(
// sums += a b on tensor cores, with a of 16 x 8 and b of 8 x 8 elements.
__device__ __forceinline__ void MultiplyAdd(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

)"};

const DeviceBlock kSwizzled{"Swizzled", R"(
// The place of WIDTH neighbouring elements in a tile for products of warp groups: rows of DEPTH elements, in which the vectors of
// WIDTH are exchanged so that those of eight rows lie in different banks.
__device__ __forceinline__ int Swizzled(int row, int vector) { return row * DEPTH + (vector ^ row % 8) * WIDTH; }

)"};

const DeviceBlock kBelow{"Below", R"(
// How many of `most` numbers from `first` on are below `bound`.
__device__ __forceinline__ int Below(long long bound, long long first, int most) {
  return bound - first < 0 ? 0 : bound - first < most ? static_cast<int>(bound - first) : most;
}

)"};

const DeviceBlock kStartCopy{"StartCopy", R"(
// Starts to copy WIDTH neighbouring elements to shared memory: the first `count`, and zeros after them. Both addresses are
// multiples of 16.
__device__ __forceinline__ void StartCopy(Element* to, const Element* from, int count) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "l"(from), "r"(SIZE * max(0, min(count, WIDTH)))
               : "memory");
}

)"};

const DeviceBlock kDescribe{"Describe", R"(
// How such a tile is described to the tensor cores, from an element on. Every `panel` bytes there are DEPTH more elements of a
// row; eight rows are 1024 bytes.
__device__ __forceinline__ unsigned long long Describe(const void* from, unsigned panel) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(from));
  return (address & 0x3ffff) >> 4 | static_cast<unsigned long long>(panel >> 4) << 16 | 64ull << 32 | 1ull << 62;
}

)"};

const DeviceBlock kBeginProducts{"BeginProducts", R"(
// Products of warp groups run asynchronously: before the first of a batch the group waits for its own registers.
__device__ __forceinline__ void BeginProducts() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

)"};

const DeviceBlock kCommitProducts{"CommitProducts", R"(
// Ends a batch and waits for the one before it. This one goes on running.
__device__ __forceinline__ void CommitProducts() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
}

)"};

const DeviceBlock kFinishProducts{"FinishProducts", R"(
// Waits for all products. The compiler must not use a sum before.
template <int kCount>
__device__ __forceinline__ void FinishProducts(Sum (&sums)[kCount]) {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+REGISTER"(sums[i])::"memory");
}

)"};

const DeviceBlock kShowTensorCores{"ShowTensorCores", R"(
// What the thread has written to shared memory is seen by the tensor cores after the next barrier.
__device__ __forceinline__ void ShowTensorCores() { asm volatile("fence.proxy.async;" ::: "memory"); }

)"};

const DeviceBlock kMakeBarrier{"MakeBarrier", R"(
// A barrier in shared memory, each phase of which ends after so many arrivals.
__device__ __forceinline__ void MakeBarrier(unsigned long long* barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
               :
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(barrier))), "r"(arrivals)
               : "memory");
}

)"};

const DeviceBlock kShowBarriers{"ShowBarriers", R"(
// The copy engine and the other threads see the barriers after the next __syncthreads().
__device__ __forceinline__ void ShowBarriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

)"};

const DeviceBlock kArriveAt{"ArriveAt", R"(
__device__ __forceinline__ void ArriveAt(unsigned long long* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];"
               :
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(barrier)))
               : "memory");
}

)"};

const DeviceBlock kExpectBytes{"ExpectBytes", R"(
// Arrives; the phase also waits for so many bytes of copies.
__device__ __forceinline__ void ExpectBytes(unsigned long long* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(barrier))), "r"(bytes)
               : "memory");
}

)"};

const DeviceBlock kWaitFor{"WaitFor", R"(
// Waits for the end of the phase of this parity. The phase before the first has parity 1.
__device__ __forceinline__ void WaitFor(unsigned long long* barrier, unsigned parity) {
  unsigned done = 0;
  while (done == 0) {
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(barrier))), "r"(parity)
                 : "memory");
  }
}

)"};

const DeviceBlock kStoreVector{"StoreVector", R"(
// Stores 8 neighbouring elements of shared memory, 16 bytes at once where the address allows it.
__device__ __forceinline__ void StoreVector(Element* to, const Element* from) {
  if (reinterpret_cast<size_t>(to) % 16 == 0) {
    *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
  } else {
#pragma unroll
    for (int i = 0; i < 8; ++i) to[i] = from[i];
  }
}

)"};

const DeviceBlock kPack{"Pack", R"(
// Two numbers as elements in one register, the first in its lower half.
__device__ __forceinline__ unsigned Pack(float low, float high) {
  const ElementPair pair = RoundedPair(low, high);
  return *reinterpret_cast<const unsigned*>(&pair);
}

)"};

const DeviceBlock kPowerOfTwo{"PowerOfTwo", R"(
// 2 to the power of x, to about 22 bits. Results below 2^-126 become zero.
__device__ __forceinline__ float PowerOfTwo(float x) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}

)"};

bool IsTensorElement(std::string_view type) { return type == "__half" || type == "__nv_bfloat16"; }

bool IsTensorByte(std::string_view type) { return type == "signed char" || type == "unsigned char"; }

bool IsTensorWord(std::string_view type) { return type == "int" || type == "unsigned int"; }

bool IsOfBytes(std::string_view type) { return IsTensorByte(type) || IsTensorWord(type); }

int VectorElements(std::string_view type) { return IsTensorByte(type) ? 16 : IsTensorElement(type) ? 8 : 4; }

std::string SumName(std::string_view type) { return !IsOfBytes(type) ? "float" : IsTensorWord(type) ? std::string(type) : "int"; }

std::string_view PtxName(std::string_view type) {
  if (IsOfBytes(type)) return type.starts_with("unsigned") ? "u8" : "s8";
  return type == "__half" ? "f16" : "bf16";
}

std::string BlockText(const DeviceBlock& block, std::string_view type, const std::string& name) {
  const bool half = type == "__half";
  // Without the newline that the literal begins with.
  std::string text = WithOtherName(std::string(block.text.substr(1)), "ELEMENT", PtxName(type));
  const int width = VectorElements(type);
  text = WithOtherName(text, "WIDTH", fmt::format("{}", width));
  text = WithOtherName(text, "DEPTH", fmt::format("{}", 8 * width));
  text = WithOtherName(text, "Sum", SumName(type));
  text = WithOtherName(text, "REGISTER", IsOfBytes(type) ? "r" : "f");
  constexpr std::string_view kSize = "SIZE * ";
  if (const std::size_t at = text.find(kSize); at != std::string::npos)
    text.replace(at, kSize.size(), width == 16 ? "" : fmt::format("{} * ", 16 / width));
  // A type of two words is no function.
  constexpr std::string_view kZero = "Element(0.0f)";
  if (const std::size_t at = text.find(kZero); IsOfBytes(type) && at != std::string::npos) text.replace(at, kZero.size(), "0");
  text = WithOtherName(text, "Element", ElementName(type));
  text = WithOtherName(text, "ElementPair", half ? "half2" : "__nv_bfloat162");
  text = WithOtherName(text, "RoundedPair", half ? "__floats2half2_rn" : "__floats2bfloat162_rn");
  return WithOtherName(text, block.name, name);
}

}  // namespace evo
