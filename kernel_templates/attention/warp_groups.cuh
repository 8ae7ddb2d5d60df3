// Shared by the templates for Hopper, those of matrix products as well: tensor maps, warp-group products, barriers in shared memory.
#pragma once

// Eight rows of 128 bytes: the swizzle repeats.
constexpr int kSwizzleBytes = 1024;

// What the driver calls CUtensorMap; NVRTC has no cuda.h.
struct alignas(128) TensorMap {
  unsigned long long opaque[16];
};

// The tensor cores run asynchronously. There must be a fence before the first product that reads what the threads have written, a commit
// after the last product of a batch, and a wait until at most `kLeft` batches are still running.
__device__ __forceinline__ void BeginProducts() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void CommitProducts() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kLeft>
__device__ __forceinline__ void WaitForProducts() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}

// Keeps the compiler from moving a use of the sums to where a product is still writing them.
template <int kCount>
__device__ __forceinline__ void PinRegisters(float (&d)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

__device__ __forceinline__ unsigned SharedAddress(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// Waits until the phase of this parity is complete.
__device__ __forceinline__ void Wait(unsigned barrier, unsigned parity) {
  unsigned done = 0;
  while (done == 0) {
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
  }
}

__device__ __forceinline__ void Expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
