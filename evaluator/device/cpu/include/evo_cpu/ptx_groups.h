#pragma once

// What products of warp groups (wgmma) by inline PTX have in common on the cpu device, whatever their elements are.

#include "evo_cpu/warp.h"

namespace evo_cpu {

// How a descriptor of wgmma with the 128-byte swizzle says where 16 bytes of an operand lie. Its address has 18 bits, of which
// four are left out, and all of the dynamic shared memory is within reach of them.
struct MatrixDescriptor {
  unsigned start, leading, stride;  // in bytes; start from the beginning of the dynamic part

  explicit MatrixDescriptor(unsigned long long bits)
      : start((static_cast<unsigned>(bits & 0x3fff) * 16 - Base()) & 0x3ffff),
        leading(static_cast<unsigned>(bits >> 16 & 0x3fff) * 16),
        stride(static_cast<unsigned>(bits >> 32 & 0x3fff) * 16) {
    if (bits >> 62 != 1 || (bits >> 49 & 7) != 0) evo_cpu_runtime->trap("wgmma: a descriptor without the 128-byte swizzle");
    if (Base() % 1024 != 0) evo_cpu_runtime->trap("wgmma: dynamic shared memory does not begin at a multiple of 1024");
  }
  static unsigned Base() { return static_cast<unsigned>(reinterpret_cast<size_t>(evo_cpu_current->block->dynamic_shared)); }
  // Of 8 elements: by k, those from 8 * vector on of a row; else those from 8 * vector on of a k.
  void Read(bool by_k, unsigned row_or_k, unsigned vector, unsigned short (&to)[8]) const {
    typedef unsigned __attribute__((may_alias)) Word;
    const unsigned lines = row_or_k / 8 * stride + row_or_k % 8 * 128;
    const unsigned plain = start + lines + (by_k ? vector * 16 : vector / 8 * leading + vector % 8 * 16);
    const char* const base = static_cast<const char*>(evo_cpu_current->block->dynamic_shared);
    const Word* const from = reinterpret_cast<const Word*>(base + (plain ^ (plain >> 7 & 7) << 4));
    const Word words[4] = {from[0], from[1], from[2], from[3]};
    std::memcpy(to, words, sizeof words);
  }
};

// What a lane brings to a product of a warp group: where its sums are, and its share of what the warp reads.
template <typename Sum, int columns>
struct GroupOperands {
  Sum* sums[columns / 2];
  unsigned short a[8];
  unsigned short b[columns / 16][8];
};

// The operands of wgmma, which are all sums and then numbers: two descriptors, or four registers and one, whether it adds and,
// for elements of 16 bits, two signs and an order for each descriptor.
template <typename Sum, int columns>
struct GroupArguments {
  Sum* sums[columns / 2];
  unsigned long long numbers[9];
  int sums_taken = 0, numbers_taken = 0;
  template <typename Operand>
  void Take(Operand& operand) {
    // Sums of integers may have a sign or not.
    if constexpr (std::is_same_v<Operand, Sum> || (std::is_same_v<Operand, unsigned> && std::is_same_v<Sum, int>)) {
      if (sums_taken < columns / 2) {
        sums[sums_taken++] = reinterpret_cast<Sum*>(&operand);
        return;
      }
    }
    numbers[numbers_taken++] = static_cast<unsigned long long>(operand);
  }
};

inline unsigned LinearThread() {
  const evo_cpu_uint3 &at = evo_cpu_current->thread_index, &of = evo_cpu_current->block->block_dim;
  return (at.z * of.y + at.y) * of.x + at.x;
}

}  // namespace evo_cpu
