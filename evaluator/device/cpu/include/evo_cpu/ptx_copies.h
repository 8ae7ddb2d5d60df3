#pragma once

// What the instructions of inline PTX do on the cpu device that copy to shared memory, and those of its barriers (ptx.h).

#include "evo_cpu/warp.h"

namespace evo_cpu {

// Shared memory by its address in 32 bits. All of a block's shared memory lies within 2 GiB of its dynamic part.
inline const char* SharedAt(unsigned address) {
  const char* near = static_cast<const char*>(evo_cpu_current->block->dynamic_shared);
  return near + static_cast<int>(address - static_cast<unsigned>(reinterpret_cast<size_t>(near)));
}

// cp.async: 16 bytes to shared memory, the first `bytes` of them and zeros after these. Done at once.
inline void CopyToShared(unsigned to, const void* from, int size, int bytes) {
  typedef unsigned __attribute__((may_alias)) Word;
  typedef unsigned short __attribute__((may_alias)) Half;
  typedef unsigned char __attribute__((may_alias)) Byte;
  if (size != 16 || bytes < 0 || bytes > 16)
    evo_cpu_runtime->trap("cp.async: 16 bytes expected, or less for zeros");
  if ((to | reinterpret_cast<size_t>(from)) % 16 != 0) evo_cpu_runtime->trap("cp.async: an address is no multiple of 16");
  char* const shared = const_cast<char*>(SharedAt(to));
  if (bytes == 16) {
    for (int i = 0; i < 4; ++i) reinterpret_cast<Word*>(shared)[i] = static_cast<const Word*>(from)[i];
  } else if (bytes % 2 != 0) {
    for (int i = 0; i < 16; ++i) reinterpret_cast<Byte*>(shared)[i] = i < bytes ? static_cast<const Byte*>(from)[i] : Byte(0);
  } else {
    for (int i = 0; i < 8; ++i) reinterpret_cast<Half*>(shared)[i] = i < bytes / 2 ? static_cast<const Half*>(from)[i] : Half(0);
  }
}

// Barriers in shared memory. `_` stands for the state that an arrival gives and nobody takes.
struct Ignored {};
constexpr Ignored _{};
inline void MakeBarrier(unsigned barrier, unsigned arrivals) { evo_cpu_runtime->make_barrier(SharedAt(barrier), arrivals); }
inline void ArriveAt(Ignored, unsigned barrier, unsigned bytes = 0) { evo_cpu_runtime->arrive_at(SharedAt(barrier), bytes); }
// Waits where a GPU may return with 0 to be asked again.
template <typename Register>
inline void WaitAt(Register& done, unsigned barrier, unsigned parity) {
  evo_cpu_runtime->wait_at(SharedAt(barrier), parity);
  done = 1;
}

// Copies elements as accesses of the thread, 16 bytes at once if there are as many.
inline void CopyElements(char* to, const unsigned char* from, unsigned bytes) {
  typedef unsigned __attribute__((may_alias)) Word;
  typedef unsigned char __attribute__((may_alias)) Byte;
  if (bytes == 16) {
    for (int i = 0; i < 4; ++i) reinterpret_cast<Word*>(to)[i] = from == nullptr ? 0 : reinterpret_cast<const Word*>(from)[i];
  } else {
    for (unsigned i = 0; i < bytes; ++i) reinterpret_cast<Byte*>(to)[i] = from == nullptr ? Byte(0) : from[i];
  }
}

// cp.async.bulk.tensor: a box of a tensor map from these coordinates on, with zeros for what lies outside. Done at once.
inline void CopyBoxAt(unsigned to, const evo_cpu_tensor_map& map, const int* at, unsigned barrier) {
  if (to % 128 != 0) evo_cpu_runtime->trap("cp.async.bulk.tensor: an address in shared memory is no multiple of 128");
  const unsigned row_bytes = map.box[0] * map.element_bytes;
  // Bits of the address that the swizzle changes: those of 16 bytes within its width.
  const unsigned swizzled = map.swizzle / 16 > 0 ? map.swizzle / 16 - 1 : 0;
  unsigned rows = 1, box[5] = {};
  for (unsigned d = 1; d < map.dimensions; ++d) rows *= map.box[d];
  for (unsigned row = 0; row < rows; ++row) {
    bool inside = true;
    uint64_t first = 0;  // of the row's elements, without the innermost coordinate
    uint64_t pitch = map.dims[0];
    for (unsigned d = 1; d < map.dimensions; ++d) {
      const long long index = static_cast<long long>(at[d]) + box[d];
      inside = inside && index >= 0 && static_cast<uint64_t>(index) < map.dims[d];
      first += static_cast<uint64_t>(index) * pitch;
      pitch *= map.dims[d];
    }
    for (unsigned offset = 0, bytes; offset < row_bytes; offset += bytes) {
      const long long index = at[0] + static_cast<long long>(offset / map.element_bytes);
      const long long end = index + 16 / map.element_bytes, all = static_cast<long long>(map.dims[0]);
      const bool is_inside = inside && index >= 0 && index < all;
      // 16 bytes if they are all inside and have such an address, or are all outside.
      const bool whole = is_inside ? end <= all && index * map.element_bytes % 16 == 0 : !inside || end <= 0 || index >= all;
      bytes = whole && offset % 16 == 0 ? 16 : map.element_bytes;
      const unsigned plain = to + row * row_bytes + offset;
      char* const place = const_cast<char*>(SharedAt(plain ^ (plain >> 7 & swizzled) << 4));
      CopyElements(place, is_inside ? map.base + (first + static_cast<uint64_t>(index)) * map.element_bytes : nullptr, bytes);
    }
    for (unsigned d = 1; d < map.dimensions && ++box[d] == map.box[d]; ++d) box[d] = 0;
  }
  evo_cpu_runtime->complete_copy(SharedAt(barrier), rows * row_bytes);
}
// The operands: where to, the map, one to five coordinates, the barrier.
template <unsigned dimensions, typename Map, typename... Operands>
inline void CopyBox(unsigned to, const Map* map, Operands... operands) {
  static_assert(sizeof(Map) == 128 && sizeof...(Operands) == dimensions + 1, "a tensor map, coordinates and a barrier expected");
  evo_cpu_tensor_map known;
  std::memcpy(&known, map, sizeof known);
  if (known.dimensions != dimensions) evo_cpu_runtime->trap("cp.async.bulk.tensor: the map has another number of dimensions");
  const unsigned values[] = {static_cast<unsigned>(operands)...};
  int at[5] = {};
  for (unsigned d = 0; d < dimensions; ++d) at[d] = static_cast<int>(values[d]);
  CopyBoxAt(to, known, at, values[dimensions]);
}

}  // namespace evo_cpu
