#include "evaluator/device/cuda/support_kernel_source.h"

#include <fmt/format.h>

namespace evo {
namespace {

// evo_hold ends after 40,000 naps of a microsecond or two, so that a host that waits for the device inside a launch cannot
// deadlock. evo_touch reads through L2 only (ld.global.cg), 16 bytes at a time, some 17 blocks further on in each pass, or the
// whole range in every block (whole). The values must be used, or ptxas removes the loads, volatile or not. evo_displace is 2,048
// consecutive instructions of 16 bytes: docs/adr/0011 says why so many.
// evo_poison does what FillHere (evaluator/device/pattern.cc) does on the host; a test compares the two.
//
// evo_scrub_local_N overwrites local memory, which lies in one pool in device memory. Each warp that can be resident has a part
// of it, whose place follows from the multiprocessor, the warp's slot there and the size that each thread has. Whether that size
// is the kernel's own or the pool's does not matter: a kernel of at least the candidate's size that fills every warp slot of
// every multiprocessor writes all of the pool from its begin to an end behind the candidate's. So the launch has as many threads
// as can be resident, is cooperative, which makes them resident together, and no block ends before all have begun, since another
// would get its slots. The sizes are multiples of 64 bytes, and the array is all that a thread has there: nothing between two
// arrays stays as it was.
constexpr char kSupportSource[] = R"(
extern "C" __global__ void evo_hold(const volatile int* released) {
  for (int i = 0; i < 40000 && *released == 0; ++i) __nanosleep(1000);
}

__device__ unsigned evo_sink;

extern "C" __global__ void evo_touch(const uint4* begin, unsigned long long count, unsigned passes, unsigned whole) {
  const unsigned long long stride = whole ? blockDim.x : 1ull * gridDim.x * blockDim.x;
  const unsigned long long first = whole ? threadIdx.x : 1ull * blockIdx.x * blockDim.x + threadIdx.x;
  unsigned all = 0;
  for (unsigned pass = 0; pass < passes; ++pass) {
    const unsigned long long on = pass * (17ull * blockDim.x + 1) % count;
    for (unsigned long long i = first; i < count; i += stride) {
      const unsigned long long at = i + on < count ? i + on : i + on - count;
      uint4 v;
      asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(begin + at));
      all += v.x ^ v.y ^ v.z ^ v.w;
    }
  }
  if (all == 0x9e3779b9u) evo_sink = all;
}

typedef unsigned long long u64;

static __device__ u64 Word(u64 word, unsigned random, u64 index) {
  if (!random) return word;
  u64 x = word + (index + 1) * 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

static __device__ int Bytes(int dtype) {
  if (dtype == 0 || dtype == 4 || dtype == 8) return 8;
  if (dtype == 1 || dtype == 5 || dtype == 9) return 4;
  return dtype == 7 || dtype == 11 ? 1 : 2;
}

static __device__ void Store(u64 to, u64 i, double value, int dtype) {
  switch (dtype) {
    case 0: ((double*)to)[i] = value; break;
    case 1: ((float*)to)[i] = (float)value; break;
    case 2: {
      unsigned short bits;
      asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"((float)value));
      ((unsigned short*)to)[i] = bits;
      break;
    }
    case 3: {
      const unsigned bits = __float_as_uint((float)value);
      const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
      ((unsigned short*)to)[i] = (unsigned short)((nan ? bits | 0x10000u : bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
      break;
    }
    case 4: ((long long*)to)[i] = (long long)value; break;
    case 5: ((int*)to)[i] = (int)value; break;
    case 6: ((short*)to)[i] = (short)value; break;
    case 7: ((signed char*)to)[i] = (signed char)value; break;
    case 8: ((u64*)to)[i] = (u64)value; break;
    case 9: ((unsigned*)to)[i] = (unsigned)value; break;
    case 10: ((unsigned short*)to)[i] = (unsigned short)value; break;
    default: ((unsigned char*)to)[i] = (unsigned char)value;
  }
}

extern "C" __global__ void evo_poison(u64 to, u64 bytes, u64 word, unsigned random, u64 answer, int dtype) {
  const u64 first = 1ull * blockIdx.x * blockDim.x + threadIdx.x;
  const u64 step = 1ull * gridDim.x * blockDim.x;
  if (answer != 0) {
    const u64 count = bytes / Bytes(dtype);
    for (u64 i = first; i < count; i += step) Store(to, i, ((const double*)answer)[i], dtype);
    return;
  }
  for (u64 w = first; 8 * w < bytes; w += step) {
    const u64 value = Word(word, random, w);
    if (8 * w + 8 <= bytes && to % 8 == 0) {
      ((u64*)to)[w] = value;
    } else {
      for (u64 b = 0; b < 8 && 8 * w + b < bytes; ++b) ((unsigned char*)to)[8 * w + b] = (unsigned char)(value >> (8 * b));
    }
  }
}

extern "C" __global__ void evo_scrub(unsigned words, u64 word, unsigned random) {
  extern __shared__ volatile u64 shared[];
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) shared[i] = Word(word, random, i);
}

__device__ u64 evo_arrivals;

// Returns when all blocks of the launch run at the same time, or after some tens of milliseconds.
static __device__ void Meet() {
  if (threadIdx.x == 0) {
    const u64 all = (atomicAdd(&evo_arrivals, 1ull) / gridDim.x + 1) * gridDim.x;
    for (int i = 0; i < 100000 && *(volatile u64*)&evo_arrivals < all; ++i) __nanosleep(100);
  }
  __syncthreads();
}

// One element is read back, at a place that the compiler cannot know, or it would leave out the stores.
#define EVO_SCRUB_LOCAL(bytes)                                                                             \
  extern "C" __global__ void __launch_bounds__(512, 4) evo_scrub_local_##bytes(u64 word, unsigned random) { \
    volatile u64 local[bytes / 8];                                                                         \
    Meet();                                                                                                \
    _Pragma("unroll 1") for (unsigned i = 0; i < bytes / 8; ++i) local[i] = Word(word, random, i);         \
    if (local[(threadIdx.x + word) % (bytes / 8)] == 0x9e3779b97f4a7c15ull) evo_sink = 1;                  \
  }
EVO_SCRUB_LOCAL(64)
EVO_SCRUB_LOCAL(256)
EVO_SCRUB_LOCAL(1024)
EVO_SCRUB_LOCAL(4096)
EVO_SCRUB_LOCAL(16384)
EVO_SCRUB_LOCAL(65536)

extern "C" __global__ void evo_displace(float x, float y) {
#pragma unroll
  for (int i = 0; i < 1024; ++i) {
    x = fmaf(x, x, 1.0f + i);
    y = fmaf(y, y, 0.5f - i);
  }
  if (x + y == 0.0f) evo_sink = 1;
}

extern "C" __global__ void evo_tick(unsigned steps) {
  unsigned v = 0;
  for (unsigned i = 0; i < steps; ++i) asm volatile("add.u32 %0, %0, 1;" : "+r"(v));
}
)";

}  // namespace

std::string SupportKernelSource() { return kSupportSource; }

std::vector<std::string> SupportKernelNames() {
  std::vector<std::string> names = {"evo_hold", "evo_touch", "evo_tick", "evo_scrub", "evo_displace", "evo_poison"};
  for (const std::uint32_t bytes : kLocalScrubBytes) names.push_back(fmt::format("evo_scrub_local_{}", bytes));
  return names;
}

}  // namespace evo
