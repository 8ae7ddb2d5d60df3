#pragma once

// Included into an image that was compiled to be checked: every load and store of the kernel calls one of these functions first
// (g++'s -fsanitize=thread makes the calls; no sanitizer library is linked), and they ask the device. What belongs to the running
// thread alone or to the machinery passes here at once.

extern "C" __attribute__((visibility("default"))) const evo_cpu_checks* evo_cpu_checker = nullptr;

namespace evo_cpu {

__attribute__((always_inline, no_sanitize("thread"))) inline bool Within(const void* p, const void* begin, size_t bytes) {
  return reinterpret_cast<size_t>(p) - reinterpret_cast<size_t>(begin) < bytes;
}

EVO_CPU_UNCHECKED inline void Check(const void* p, size_t bytes, evo_cpu_access kind) {
  const evo_cpu_thread* me = evo_cpu_current;
  if (me == nullptr || Within(p, me->stack, me->stack_bytes)) return;
  if (p == &evo_cpu_current || p == &evo_cpu_runtime || Within(p, me, sizeof *me) || Within(p, me->block, sizeof *me->block))
    return;
  if (Within(p, evo_cpu_runtime, sizeof *evo_cpu_runtime) || Within(p, me->warp_exchange, 32 * evo_cpu_warp_slot_bytes)) return;
  evo_cpu_checker->access(p, bytes, kind);
}

}  // namespace evo_cpu

#define EVO_CPU_HOOK(name, bytes, kind) \
  EVO_CPU_UNCHECKED void name(void* p) { evo_cpu::Check(p, bytes, kind); }
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
EVO_CPU_UNCHECKED void __tsan_read_range(void* p, size_t bytes) { evo_cpu::Check(p, bytes, evo_cpu_read); }
EVO_CPU_UNCHECKED void __tsan_write_range(void* p, size_t bytes) { evo_cpu::Check(p, bytes, evo_cpu_write); }
EVO_CPU_UNCHECKED void __tsan_vptr_update(void* p, void*) { evo_cpu::Check(p, sizeof(void*), evo_cpu_write); }
EVO_CPU_UNCHECKED void __tsan_init() {}

// Calls to these are renamed by the linker (--wrap).
void* __real_memcpy(void*, const void*, size_t);
void* __real_memmove(void*, const void*, size_t);
void* __real_memset(void*, int, size_t);
EVO_CPU_UNCHECKED void* __wrap_memcpy(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return to;
  evo_cpu::Check(from, bytes, evo_cpu_read);
  evo_cpu::Check(to, bytes, evo_cpu_write);
  return __real_memcpy(to, from, bytes);
}
EVO_CPU_UNCHECKED void* __wrap_memmove(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return to;
  evo_cpu::Check(from, bytes, evo_cpu_read);
  evo_cpu::Check(to, bytes, evo_cpu_write);
  return __real_memmove(to, from, bytes);
}
EVO_CPU_UNCHECKED void* __wrap_memset(void* to, int value, size_t bytes) {
  if (bytes == 0) return to;
  evo_cpu::Check(to, bytes, evo_cpu_write);
  return __real_memset(to, value, bytes);
}
}

#undef EVO_CPU_HOOKS
#undef EVO_CPU_HOOK
