#pragma once

// Products of matrices of integers by inline PTX on the cpu device.

#include "evo_cpu/ptx_groups.h"
#include "evo_cpu/warp.h"

namespace evo_cpu {

// A product of 16 x 32 and 32 x 8 integers of 8 bits. The sums have 32 bits, and wrap.
struct ByteOperands {
  unsigned d[4];
  unsigned a[4];
  unsigned b[2];
  unsigned c[4];
};
template <typename T>
EVO_CPU_UNCHECKED __attribute__((noinline)) void MultiplyBytesForAll(ByteOperands& mine) {
  ByteOperands* const address = &mine;
  std::memcpy(WarpSlot(evo_cpu_current->lane), &address, sizeof address);
  if (!evo_cpu_runtime->arrive_warp(0xffffffffu)) return;
  ByteOperands* lanes[32];
  for (unsigned lane = 0; lane < 32; ++lane) std::memcpy(&lanes[lane], WarpSlot(lane), sizeof(void*));
  typedef unsigned Row __attribute__((vector_size(32)));
  unsigned left[16][32];
  Row right[32], sum[16];
  const auto element = [](unsigned word, unsigned i) { return static_cast<unsigned>(static_cast<T>(word >> i * 8 & 0xff)); };
  for (unsigned lane = 0; lane < 32; ++lane) {
    const ByteOperands& operands = *lanes[lane];
    const unsigned row = lane / 4, column = lane % 4;
    for (unsigned i = 0; i < 16; ++i)
      left[row + i / 4 % 2 * 8][column * 4 + i % 4 + i / 8 * 16] = element(operands.a[i / 4], i % 4);
    for (unsigned i = 0; i < 8; ++i) right[column * 4 + i % 4 + i / 4 * 16][row] = element(operands.b[i / 4], i % 4);
    for (unsigned i = 0; i < 4; ++i) sum[row + i / 2 * 8][column * 2 + i % 2] = operands.c[i];
  }
  for (int row = 0; row < 16; ++row) {
    for (int k = 0; k < 32; ++k) sum[row] += left[row][k] * right[k];
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 4; ++i) lanes[lane]->d[i] = sum[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2];
  }
  evo_cpu_runtime->release_warp(0xffffffffu);
}
template <typename T, typename Register>
inline void MultiplyBytes(Register& d0, Register& d1, Register& d2, Register& d3, unsigned a0, unsigned a1, unsigned a2,
                          unsigned a3, unsigned b0, unsigned b1, unsigned c0, unsigned c1, unsigned c2, unsigned c3) {
  ByteOperands mine{{}, {a0, a1, a2, a3}, {b0, b1}, {c0, c1, c2, c3}};
  MultiplyBytesForAll<T>(mine);
  d0 = static_cast<Register>(mine.d[0]), d1 = static_cast<Register>(mine.d[1]);
  d2 = static_cast<Register>(mine.d[2]), d3 = static_cast<Register>(mine.d[3]);
}

// A warp's 16 rows of a warp group's product of 64 x 32 and 32 x `columns` integers of 8 bits. The last lane to arrive
// multiplies.
template <typename A, typename B, int columns>
EVO_CPU_UNCHECKED __attribute__((noinline)) void MultiplyByteRows(GroupOperands<int, columns>& mine, bool adds) {
  GroupOperands<int, columns>* const address = &mine;
  std::memcpy(WarpSlot(evo_cpu_current->lane), &address, sizeof address);
  if (!evo_cpu_runtime->arrive_warp(0xffffffffu)) return;
  GroupOperands<int, columns>* lanes[32];
  for (unsigned lane = 0; lane < 32; ++lane) std::memcpy(&lanes[lane], WarpSlot(lane), sizeof(void*));
  alignas(32) unsigned left[16][32], right[32][columns];
  A of_a[16];
  B of_b[16];
  for (unsigned lane = 0; lane < 32; ++lane) {
    std::memcpy(of_a, lanes[lane]->a, sizeof of_a);
    for (unsigned i = 0; i < 16; ++i) left[lane / 2][lane % 2 * 16 + i] = static_cast<unsigned>(of_a[i]);
    for (unsigned part = 0; part < columns / 16; ++part) {
      const unsigned vector = part * 32 + lane;
      std::memcpy(of_b, lanes[lane]->b[part], sizeof of_b);
      for (unsigned i = 0; i < 16; ++i) right[vector % 2 * 16 + i][vector / 2] = static_cast<unsigned>(of_b[i]);
    }
  }
  typedef unsigned Row __attribute__((vector_size(32), may_alias));
  for (unsigned row = 0; row < 16; ++row) {
    for (unsigned part = 0; part < columns / 8; ++part) {
      int* to[8];
      Row total = {};
      for (unsigned i = 0; i < 8; ++i) {
        to[i] = lanes[row % 8 * 4 + i / 2]->sums[part * 4 + row / 8 * 2 + i % 2];
        if (adds) total[i] = static_cast<unsigned>(*to[i]);
      }
      for (unsigned k = 0; k < 32; ++k) total += left[row][k] * *reinterpret_cast<const Row*>(&right[k][part * 8]);
      for (unsigned i = 0; i < 8; ++i) *to[i] = static_cast<int>(total[i]);
    }
  }
  evo_cpu_runtime->release_warp(0xffffffffu);
}

// wgmma.mma_async of bytes in shared memory, done at once. Neighbours of both factors go along k: there is no other order.
template <typename A, typename B, int columns, typename... Operands>
inline void MultiplyByteGroup(Operands&&... operands) {
  static_assert(sizeof...(Operands) == columns / 2 + 3, "wgmma: sums, two descriptors and whether it adds expected");
  GroupArguments<int, columns> all;
  (all.Take(operands), ...);
  const MatrixDescriptor a(all.numbers[0]), b(all.numbers[1]);
  const unsigned lane = evo_cpu_current->lane, first = LinearThread() / 32 % 4 * 16;
  GroupOperands<int, columns> mine;
  std::memcpy(mine.sums, all.sums, sizeof mine.sums);
  a.Read(true, first + lane / 2, lane % 2, mine.a);
  for (unsigned part = 0; part < columns / 16; ++part) {
    const unsigned vector = part * 32 + lane;
    b.Read(true, vector / 2, vector % 2, mine.b[part]);
  }
  MultiplyByteRows<A, B, columns>(mine, all.numbers[2] != 0);
}

}  // namespace evo_cpu
