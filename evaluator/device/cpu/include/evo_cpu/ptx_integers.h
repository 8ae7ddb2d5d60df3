#pragma once

// Products of matrices of integers by inline PTX on the cpu device.

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

}  // namespace evo_cpu
