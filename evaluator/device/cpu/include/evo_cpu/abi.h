#pragma once

// What the SIMT runtime and a compiled kernel know of each other. Plain C layout: both sides are compiled apart.

#include <cstddef>
#include <cstdint>

struct evo_cpu_uint3 {
  unsigned x, y, z;
};

struct evo_cpu_block;

// One CUDA thread of the block that is running. `current` of the image points to it while the thread runs.
struct evo_cpu_thread {
  evo_cpu_uint3 thread_index;
  unsigned lane;        // within the warp
  void* warp_exchange;  // 32 slots of kWarpSlotBytes each, shared by the warp
  evo_cpu_block* block;
  const void* stack;  // of the fiber that runs it, lowest address
  size_t stack_bytes;
};

struct evo_cpu_block {
  evo_cpu_uint3 block_index;
  evo_cpu_uint3 block_dim;
  evo_cpu_uint3 grid_dim;
  void* dynamic_shared;
};

enum { evo_cpu_warp_slot_bytes = 16 };

// What a kernel gets for a tensor map (KernelTemplate::tensor_maps), in the 128 bytes that its type has.
struct evo_cpu_tensor_map {
  const unsigned char* base;
  unsigned element_bytes;
  unsigned dimensions;
  unsigned swizzle;  // bytes
  unsigned box[5];
  uint64_t dims[5];
};

// What a kernel asks of the runtime.
struct evo_cpu_services {
  void (*sync_block)();
  // Waits for the lanes of the mask.
  void (*sync_warp)(unsigned mask);
  // As sync_warp, but the last lane to arrive returns 1 with the others still waiting, and must call release_warp.
  int (*arrive_warp)(unsigned mask);
  void (*release_warp)(unsigned mask);
  // Lanes of the caller's warp that have not exited.
  unsigned (*live_lanes)();
  // The block's memory for static shared variable number `slot`.
  void* (*static_shared)(unsigned slot, size_t bytes, size_t alignment);
  // Barriers in shared memory (mbarrier): made for some arrivals; an arrival, after which copies bring so many bytes more; bytes
  // that a copy has brought; a wait for the end of the phase of this parity.
  void (*make_barrier)(const void* barrier, unsigned arrivals);
  void (*arrive_at)(const void* barrier, unsigned bytes);
  void (*complete_copy)(const void* barrier, unsigned bytes);
  void (*wait_at)(const void* barrier, unsigned parity);
  // Ends the kernel as a trap does. Does not return.
  void (*trap)(const char* reason);
};

enum evo_cpu_access { evo_cpu_read, evo_cpu_write, evo_cpu_volatile_read, evo_cpu_volatile_write, evo_cpu_atomic };

// What an image that is checked tells the device, before it happens. Neither returns from an access that is not allowed.
struct evo_cpu_checks {
  void (*access)(const void* address, size_t bytes, evo_cpu_access kind);
  void (*fence)();
};

// One __global__ function of an image.
struct evo_cpu_kernel {
  void (*invoke)(void** arguments);
  const size_t* argument_bytes;
  size_t argument_count;
};

// One variable of an image that the device fills.
struct evo_cpu_variable {
  void* address;
  size_t bytes;
};

// Every image exports: evo_cpu_thread* evo_cpu_current; const evo_cpu_services* evo_cpu_runtime; evo_cpu_kernel and
// evo_cpu_variable by symbol.
// One compiled to be checked also exports: const evo_cpu_checks* evo_cpu_checker.
