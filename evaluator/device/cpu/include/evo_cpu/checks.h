#pragma once

// Of an image that is checked: every load and store of the kernel calls a function first (g++'s -fsanitize=thread makes the
// calls; no sanitizer library is linked), and it asks the device. What belongs to the running thread alone or to the machinery
// passes here at once. The functions are compiled once, as a source of their own with EVO_CPU_CHECKS_DEFINED, and linked into
// every image (prelude_cache.h): they take longer to compile than a kernel.

#include "evo_cpu/abi.h"

extern "C" __attribute__((visibility("default"))) const evo_cpu_checks* evo_cpu_checker;

namespace evo_cpu {
// The kernel is about to access this.
void Check(const void* p, size_t bytes, evo_cpu_access kind);
}  // namespace evo_cpu

#ifdef EVO_CPU_CHECKS_DEFINED

extern "C" {
const evo_cpu_checks* evo_cpu_checker = nullptr;
// Of the prelude.
__attribute__((visibility("default"))) extern evo_cpu_thread* evo_cpu_current;
__attribute__((visibility("default"))) extern const evo_cpu_services* evo_cpu_runtime;
}

namespace evo_cpu {

inline bool Within(const void* p, const void* begin, size_t bytes) {
  return reinterpret_cast<size_t>(p) - reinterpret_cast<size_t>(begin) < bytes;
}

__attribute__((noinline)) static void CheckOthers(const evo_cpu_thread* me, const void* p, size_t bytes, evo_cpu_access kind) {
  if (p == &evo_cpu_current || p == &evo_cpu_runtime || Within(p, me, sizeof *me) || Within(p, me->block, sizeof *me->block))
    return;
  if (Within(p, evo_cpu_runtime, sizeof *evo_cpu_runtime) || Within(p, me->warp_exchange, 32 * evo_cpu_warp_slot_bytes)) return;
  evo_cpu_checker->access(p, bytes, kind);
}

// Most accesses are to the thread's own stack.
__attribute__((always_inline)) inline void CheckHere(const void* p, size_t bytes, evo_cpu_access kind) {
  const evo_cpu_thread* me = evo_cpu_current;
  if (me != nullptr && !Within(p, me->stack, me->stack_bytes)) CheckOthers(me, p, bytes, kind);
}

void Check(const void* p, size_t bytes, evo_cpu_access kind) { CheckHere(p, bytes, kind); }

}  // namespace evo_cpu

#define EVO_CPU_HOOK(name, bytes, kind) \
  void name(void* p) { evo_cpu::CheckHere(p, bytes, kind); }
#define EVO_CPU_HOOKS(bytes)                                                        \
  EVO_CPU_HOOK(__tsan_read##bytes, bytes, evo_cpu_read)                             \
  EVO_CPU_HOOK(__tsan_write##bytes, bytes, evo_cpu_write)                           \
  EVO_CPU_HOOK(__tsan_unaligned_read##bytes, bytes, evo_cpu_read)                   \
  EVO_CPU_HOOK(__tsan_unaligned_write##bytes, bytes, evo_cpu_write)                 \
  EVO_CPU_HOOK(__tsan_volatile_read##bytes, bytes, evo_cpu_volatile_read)           \
  EVO_CPU_HOOK(__tsan_volatile_write##bytes, bytes, evo_cpu_volatile_write)         \
  EVO_CPU_HOOK(__tsan_unaligned_volatile_read##bytes, bytes, evo_cpu_volatile_read) \
  EVO_CPU_HOOK(__tsan_unaligned_volatile_write##bytes, bytes, evo_cpu_volatile_write)

extern "C" {
EVO_CPU_HOOKS(1)
EVO_CPU_HOOKS(2)
EVO_CPU_HOOKS(4)
EVO_CPU_HOOKS(8)
EVO_CPU_HOOKS(16)
void __tsan_read_range(void* p, size_t bytes) { evo_cpu::CheckHere(p, bytes, evo_cpu_read); }
void __tsan_write_range(void* p, size_t bytes) { evo_cpu::CheckHere(p, bytes, evo_cpu_write); }
void __tsan_vptr_update(void* p, void*) { evo_cpu::CheckHere(p, sizeof(void*), evo_cpu_write); }
void __tsan_init() {}

// Calls to these are renamed by the linker (--wrap).
void* __real_memcpy(void*, const void*, size_t);
void* __real_memmove(void*, const void*, size_t);
void* __real_memset(void*, int, size_t);
void* __wrap_memcpy(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return to;
  evo_cpu::Check(from, bytes, evo_cpu_read);
  evo_cpu::Check(to, bytes, evo_cpu_write);
  return __real_memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return to;
  evo_cpu::Check(from, bytes, evo_cpu_read);
  evo_cpu::Check(to, bytes, evo_cpu_write);
  return __real_memmove(to, from, bytes);
}
void* __wrap_memset(void* to, int value, size_t bytes) {
  if (bytes == 0) return to;
  evo_cpu::Check(to, bytes, evo_cpu_write);
  return __real_memset(to, value, bytes);
}
}

#undef EVO_CPU_HOOKS
#undef EVO_CPU_HOOK
#endif  // EVO_CPU_CHECKS_DEFINED
