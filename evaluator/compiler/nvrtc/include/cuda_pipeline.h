// The toolkit's header with shorter versions of two functions. In the toolkit each use of them instantiates dozens of templates,
// a seventh of NVRTC's work for a WMMA kernel with asynchronous copies. Both versions give the same PTX, so that nvcc gives the
// same code for an exported kernel. The toolkit's macros _CUDA_PIPELINE_DEBUG and _CUDA_PIPELINE_MAX_STAGES do not affect the
// shorter ones.
#pragma once
// For NVRTC the toolkit's header declares two types of its own that differ from those of stdint.h.
#include <stdint.h>
#define uint64_t evo_pipeline_uint64_t
#define uintptr_t evo_pipeline_uintptr_t
#include_next <cuda_pipeline.h>
#undef uint64_t
#undef uintptr_t

#if __CUDA_ARCH__ >= 800

extern "C" __device__ unsigned __nvvm_get_smem_pointer(void*);

#define EVO_COPY(cache, size, zfill)                                                                                   \
  case zfill:                                                                                                          \
    asm volatile("cp.async." cache ".shared.global [%0], [%1], %2, %3;" ::"r"(__nvvm_get_smem_pointer(to)), "l"(from), \
                 "n"(size), "n"(size - zfill)                                                                          \
                 : "memory");                                                                                          \
    return;
#define EVO_COPIES_OF_4(cache, size) \
  EVO_COPY(cache, size, 0) EVO_COPY(cache, size, 1) EVO_COPY(cache, size, 2) EVO_COPY(cache, size, 3) EVO_COPY(cache, size, 4)
#define EVO_COPIES_OF_8(cache, size) \
  EVO_COPIES_OF_4(cache, size) EVO_COPY(cache, size, 5) EVO_COPY(cache, size, 6) EVO_COPY(cache, size, 7) EVO_COPY(cache, size, 8)
#define EVO_COPIES_OF_16(cache, size)                                                                     \
  EVO_COPIES_OF_8(cache, size)                                                                            \
  EVO_COPY(cache, size, 9)                                                                                \
  EVO_COPY(cache, size, 10) EVO_COPY(cache, size, 11) EVO_COPY(cache, size, 12) EVO_COPY(cache, size, 13) \
      EVO_COPY(cache, size, 14) EVO_COPY(cache, size, 15) EVO_COPY(cache, size, 16)

// Traps for sizes that cannot be copied this way, as the toolkit's function does.
static inline __device__ void evo_pipeline_memcpy_async(void* __restrict__ to, const void* __restrict__ from, size_t size,
                                                        size_t zfill = 0) {
  switch (size) {
    case 16:
      switch (zfill) {
        EVO_COPIES_OF_16("cg", 16)
        default:
          __trap();
          return;
      }
    case 8:
      switch (zfill) {
        EVO_COPIES_OF_8("ca", 8)
        default:
          __trap();
          return;
      }
    case 4:
      switch (zfill) {
        EVO_COPIES_OF_4("ca", 4)
        default:
          __trap();
          return;
      }
    default:
      __trap();
      return;
  }
}
#define __pipeline_memcpy_async evo_pipeline_memcpy_async

#undef EVO_COPIES_OF_16
#undef EVO_COPIES_OF_8
#undef EVO_COPIES_OF_4
#undef EVO_COPY

#define EVO_WAIT(count)                                   \
  case count:                                             \
    asm volatile("cp.async.wait_group %0;" ::"n"(count)); \
    return;

static inline __device__ void evo_pipeline_wait_prior(size_t prior) {
  switch (prior) {
    EVO_WAIT(0)
    EVO_WAIT(1)
    EVO_WAIT(2) EVO_WAIT(3) EVO_WAIT(4) EVO_WAIT(5) EVO_WAIT(6) EVO_WAIT(7) default
        : asm volatile("cp.async.wait_group %0;" ::"n"(8));
  }
}
#define __pipeline_wait_prior evo_pipeline_wait_prior

#undef EVO_WAIT

#endif
