#pragma once

// What inline PTX does on the cpu device, one function an instruction, with the operands in the order of PTX
// (evaluator/compiler/host/host_assembly.cc names them). The PTX manual says which lane holds which elements.

#include <cmath>

#include "evo_cpu/ptx_copies.h"
#include "evo_cpu/ptx_groups.h"
#include "evo_cpu/ptx_integers.h"
#include "evo_cpu/warp.h"

namespace evo_cpu {

// What a lane asks ldmatrix for.
struct MatrixRow {
  unsigned char bytes[16];
  unsigned* const* to;
};

template <bool transposed, int count>
EVO_CPU_UNCHECKED __attribute__((noinline)) void HandOut(MatrixRow& mine) {
  MatrixRow* const address = &mine;
  std::memcpy(WarpSlot(evo_cpu_current->lane), &address, sizeof address);
  if (!evo_cpu_runtime->arrive_warp(0xffffffffu)) return;
  MatrixRow* lanes[32];
  for (unsigned lane = 0; lane < 32; ++lane) std::memcpy(&lanes[lane], WarpSlot(lane), sizeof(void*));
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned matrix = 0; matrix < count; ++matrix) {
      unsigned short pair[2];
      for (unsigned i = 0; i < 2; ++i) {
        const unsigned row = transposed ? lane % 4 * 2 + i : lane / 4, column = transposed ? lane / 4 : lane % 4 * 2 + i;
        std::memcpy(&pair[i], lanes[matrix * 8 + row]->bytes + column * 2, 2);
      }
      *lanes[lane]->to[matrix] = pair[0] | static_cast<unsigned>(pair[1]) << 16;
    }
  }
  evo_cpu_runtime->release_warp(0xffffffffu);
}

// Each of the first 8 * count lanes reads a row of 16 bytes, as its own access. The last lane to arrive hands the elements out.
template <bool transposed, int count>
__attribute__((noinline)) void LoadMatrixRows(unsigned* const (&to)[count], unsigned address) {
  typedef unsigned __attribute__((may_alias)) Word;
  const unsigned lane = evo_cpu_current->lane;
  if (address % 16 != 0) evo_cpu_runtime->trap("ldmatrix: an address is no multiple of 16");
  MatrixRow mine{{}, to};
  if (lane < 8 * count) {
    const Word* from = reinterpret_cast<const Word*>(SharedAt(address));
    const Word row[4] = {from[0], from[1], from[2], from[3]};
    std::memcpy(mine.bytes, row, sizeof row);
  }
  HandOut<transposed, count>(mine);
}
template <bool transposed, typename Register>
inline void LoadMatrices(Register& a, unsigned address) {
  unsigned* const to[1] = {reinterpret_cast<unsigned*>(&a)};
  LoadMatrixRows<transposed>(to, address);
}
template <bool transposed, typename Register>
inline void LoadMatrices(Register& a, Register& b, unsigned address) {
  unsigned* const to[2] = {reinterpret_cast<unsigned*>(&a), reinterpret_cast<unsigned*>(&b)};
  LoadMatrixRows<transposed>(to, address);
}
template <bool transposed, typename Register>
inline void LoadMatrices(Register& a, Register& b, Register& c, Register& d, unsigned address) {
  unsigned* const to[4] = {reinterpret_cast<unsigned*>(&a), reinterpret_cast<unsigned*>(&b), reinterpret_cast<unsigned*>(&c),
                           reinterpret_cast<unsigned*>(&d)};
  LoadMatrixRows<transposed>(to, address);
}

// g++'s own functions, since the header that gives them their usual names takes longer to load than a kernel to compile.
EVO_CPU_UNCHECKED inline void HalvesToFloats(float* to, const unsigned short (&from)[8]) {
#ifdef __F16C__
  typedef short Halves __attribute__((vector_size(16)));
  typedef float Floats __attribute__((vector_size(32)));
  Halves halves;
  std::memcpy(&halves, from, sizeof halves);
  const Floats floats = __builtin_ia32_vcvtph2ps256(halves);
  std::memcpy(to, &floats, sizeof floats);
#else
  for (int i = 0; i < 8; ++i) {
    __half half;
    std::memcpy(&half, &from[i], sizeof half);
    to[i] = __half2float(half);
  }
#endif
}

// 8 elements of 16 bits as floats.
template <typename T>
EVO_CPU_UNCHECKED inline void Widen(float* to, const unsigned short (&from)[8]) {
  if constexpr (std::is_same_v<T, __half>) {
    HalvesToFloats(to, from);
  } else {
    for (int i = 0; i < 8; ++i) {
      const unsigned whole = static_cast<unsigned>(from[i]) << 16;
      std::memcpy(&to[i], &whole, 4);
    }
  }
}

// A lane's operands of a product of 16 x 16 and 16 x 8 elements.
struct MatrixOperands {
  float d[4];
  unsigned a[4];
  unsigned b[2];
  float c[4];
};

// Every lane posts where its operands are; the last to arrive multiplies for all.
template <typename T>
EVO_CPU_UNCHECKED __attribute__((noinline)) void MultiplyForAll(MatrixOperands& mine) {
  MatrixOperands* const address = &mine;
  std::memcpy(WarpSlot(evo_cpu_current->lane), &address, sizeof address);
  if (!evo_cpu_runtime->arrive_warp(0xffffffffu)) return;
  MatrixOperands* lanes[32];
  for (unsigned lane = 0; lane < 32; ++lane) std::memcpy(&lanes[lane], WarpSlot(lane), sizeof(void*));
  alignas(32) float left[16 * 16], right[16 * 8], sum[16 * 8];
  for (unsigned lane = 0; lane < 32; ++lane) {
    const MatrixOperands& operands = *lanes[lane];
    const unsigned row = lane / 4, column = lane % 4 * 2;
    float a[8], b[8];
    unsigned short of_a[8], of_b[8] = {};
    std::memcpy(of_a, operands.a, sizeof operands.a);
    std::memcpy(of_b, operands.b, sizeof operands.b);
    Widen<T>(a, of_a);
    Widen<T>(b, of_b);
    for (unsigned i = 0; i < 4; ++i) std::memcpy(&left[(row + i % 2 * 8) * 16 + column + i / 2 * 8], &a[i * 2], 8);
    for (unsigned i = 0; i < 4; ++i) right[(column + i % 2 + i / 2 * 8) * 8 + row] = b[i];
    for (unsigned i = 0; i < 2; ++i) std::memcpy(&sum[(row + i * 8) * 8 + column], &operands.c[i * 2], 8);
  }
  // A row of 8 at a time: the emulation of a kernel spends most of its time here.
  typedef float Row __attribute__((vector_size(32), may_alias));
  const Row* rows = reinterpret_cast<const Row*>(right);
  for (int row = 0; row < 16; ++row) {
    Row& sums = reinterpret_cast<Row*>(sum)[row];
    Row total = sums;
    for (int k = 0; k < 16; ++k) total += left[row * 16 + k] * rows[k];
    sums = total;
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 2; ++i) std::memcpy(&lanes[lane]->d[i * 2], &sum[(lane / 4 + i * 8) * 8 + lane % 4 * 2], 8);
  }
  evo_cpu_runtime->release_warp(0xffffffffu);
}
template <typename T>
inline void MultiplyMatrices(float& d0, float& d1, float& d2, float& d3, unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                             unsigned b0, unsigned b1, float c0, float c1, float c2, float c3) {
  MatrixOperands mine{{}, {a0, a1, a2, a3}, {b0, b1}, {c0, c1, c2, c3}};
  MultiplyForAll<T>(mine);
  d0 = mine.d[0], d1 = mine.d[1], d2 = mine.d[2], d3 = mine.d[3];
}

// A product of 16 x 8 and 8 x 8 elements of tf32, which is a float without its last 13 bits: tensor cores do not read them. They
// add products exactly up to a few bits below the largest, and truncate the sum; here it is truncated once.
inline float TruncatedToFloat(double x) {
  const float nearest = static_cast<float>(x);
  if (!(std::fabs(static_cast<double>(nearest)) > std::fabs(x)) || std::isinf(nearest)) return nearest;
  unsigned bits;
  std::memcpy(&bits, &nearest, 4);
  --bits;
  float truncated;
  std::memcpy(&truncated, &bits, 4);
  return truncated;
}
inline double FromTf32(unsigned bits) {
  bits &= 0xffffe000u;
  float value;
  std::memcpy(&value, &bits, 4);
  return static_cast<double>(value);
}
EVO_CPU_UNCHECKED __attribute__((noinline)) inline void MultiplyTf32ForAll(MatrixOperands& mine) {
  MatrixOperands* const address = &mine;
  std::memcpy(WarpSlot(evo_cpu_current->lane), &address, sizeof address);
  if (!evo_cpu_runtime->arrive_warp(0xffffffffu)) return;
  MatrixOperands* lanes[32];
  for (unsigned lane = 0; lane < 32; ++lane) std::memcpy(&lanes[lane], WarpSlot(lane), sizeof(void*));
  typedef double Row __attribute__((vector_size(64)));
  double left[16][8];
  Row right[8], sum[16];
  for (unsigned lane = 0; lane < 32; ++lane) {
    const MatrixOperands& operands = *lanes[lane];
    const unsigned row = lane / 4, column = lane % 4;
    for (unsigned i = 0; i < 4; ++i) left[row + i % 2 * 8][column + i / 2 * 4] = FromTf32(operands.a[i]);
    for (unsigned i = 0; i < 2; ++i) right[column + i * 4][row] = FromTf32(operands.b[i]);
    for (unsigned i = 0; i < 4; ++i) sum[row + i / 2 * 8][column * 2 + i % 2] = static_cast<double>(operands.c[i]);
  }
  for (int row = 0; row < 16; ++row) {
    for (int k = 0; k < 8; ++k) sum[row] += left[row][k] * right[k];
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 4; ++i) lanes[lane]->d[i] = TruncatedToFloat(sum[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2]);
  }
  evo_cpu_runtime->release_warp(0xffffffffu);
}
inline void MultiplyTf32(float& d0, float& d1, float& d2, float& d3, unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                         unsigned b0, unsigned b1, float c0, float c1, float c2, float c3) {
  MatrixOperands mine{{}, {a0, a1, a2, a3}, {b0, b1}, {c0, c1, c2, c3}};
  MultiplyTf32ForAll(mine);
  d0 = mine.d[0], d1 = mine.d[1], d2 = mine.d[2], d3 = mine.d[3];
}

// stmatrix: each lane brings a pair of elements of each of four matrices, and writes the row for which it gives an address.
EVO_CPU_UNCHECKED __attribute__((noinline)) inline void GatherRow(const unsigned (&mine)[4], unsigned (&row)[4]) {
  const unsigned* const address = mine;
  std::memcpy(WarpSlot(evo_cpu_current->lane), &address, sizeof address);
  evo_cpu_runtime->sync_warp(0xffffffffu);
  const unsigned lane = evo_cpu_current->lane;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned* of;
    std::memcpy(&of, WarpSlot(lane % 8 * 4 + i), sizeof of);
    row[i] = of[lane / 8];
  }
  evo_cpu_runtime->sync_warp(0xffffffffu);
}
inline void StoreMatrices(unsigned address, unsigned a, unsigned b, unsigned c, unsigned d) {
  typedef unsigned __attribute__((may_alias)) Word;
  if (address % 16 != 0) evo_cpu_runtime->trap("stmatrix: an address is no multiple of 16");
  const unsigned mine[4] = {a, b, c, d};
  unsigned row[4];
  GatherRow(mine, row);
  Word* const to = reinterpret_cast<Word*>(const_cast<char*>(SharedAt(address)));
  for (int i = 0; i < 4; ++i) to[i] = row[i];
}

// How a lane's share of the left factor of a product of warp groups lies: as a descriptor says, or as mma has it in registers.
enum class LeftFactor { kByK, kByRow, kInRegisters };

// A warp's 16 rows of the product. The last lane to arrive multiplies.
template <typename T, int columns, LeftFactor of_a, bool b_by_k>
EVO_CPU_UNCHECKED __attribute__((noinline)) void MultiplyRows(GroupOperands<float, columns>& mine, bool adds) {
  GroupOperands<float, columns>* const address = &mine;
  std::memcpy(WarpSlot(evo_cpu_current->lane), &address, sizeof address);
  if (!evo_cpu_runtime->arrive_warp(0xffffffffu)) return;
  GroupOperands<float, columns>* lanes[32];
  for (unsigned lane = 0; lane < 32; ++lane) std::memcpy(&lanes[lane], WarpSlot(lane), sizeof(void*));
  alignas(32) float left[16][16], right[16][columns];
  for (unsigned lane = 0; lane < 32; ++lane) {
    float of[8];
    Widen<T>(of, lanes[lane]->a);
    for (unsigned i = 0; i < 8; ++i) {
      if constexpr (of_a == LeftFactor::kByK)
        left[lane / 2][lane % 2 * 8 + i] = of[i];
      else if constexpr (of_a == LeftFactor::kByRow)
        left[lane % 2 * 8 + i][lane / 2] = of[i];
      else
        left[i / 2 % 2 * 8 + lane / 4][i / 4 * 8 + lane % 4 * 2 + i % 2] = of[i];
    }
    for (unsigned part = 0; part < columns / 16; ++part) {
      const unsigned vector = part * 32 + lane;
      Widen<T>(of, lanes[lane]->b[part]);
      for (unsigned i = 0; i < 8; ++i)
        (b_by_k ? right[vector % 2 * 8 + i][vector / 2] : right[vector / (columns / 8)][vector % (columns / 8) * 8 + i]) = of[i];
    }
  }
  typedef float Row __attribute__((vector_size(32), may_alias));
  for (unsigned row = 0; row < 16; ++row) {
    for (unsigned part = 0; part < columns / 8; ++part) {
      float* to[8];
      Row total = {};
      for (unsigned i = 0; i < 8; ++i) {
        to[i] = lanes[row % 8 * 4 + i / 2]->sums[part * 4 + row / 8 * 2 + i % 2];
        if (adds) total[i] = *to[i];
      }
      for (unsigned k = 0; k < 16; ++k) total += left[row][k] * *reinterpret_cast<const Row*>(&right[k][part * 8]);
      for (unsigned i = 0; i < 8; ++i) *to[i] = total[i];
    }
  }
  evo_cpu_runtime->release_warp(0xffffffffu);
}

// wgmma.mma_async of 64 x 16 and 16 x `columns` elements, done at once. The right factor is in shared memory, the left one there
// or in registers. Each lane reads its share of the warp's operands, as its own accesses.
template <typename T, int columns, typename... Operands>
inline void MultiplyGroup(Operands&&... operands) {
  constexpr bool in_registers = sizeof...(Operands) == columns / 2 + 9;
  static_assert(in_registers || sizeof...(Operands) == columns / 2 + 7,
                "wgmma: sums, two descriptors and five numbers expected, or four registers, a descriptor and four numbers");
  GroupArguments<float, columns> all;
  (all.Take(operands), ...);
  constexpr int b_at = in_registers ? 4 : 1;
  const bool b_by_k = all.numbers[in_registers ? 8 : 6] == 0;
  if (all.numbers[b_at + 2] != 1 || all.numbers[b_at + 3] != 1) evo_cpu_runtime->trap("wgmma: a sign other than 1");
  const unsigned lane = evo_cpu_current->lane, first = LinearThread() / 32 % 4 * 16;
  GroupOperands<float, columns> mine;
  std::memcpy(mine.sums, all.sums, sizeof mine.sums);
  const MatrixDescriptor b(all.numbers[b_at]);
  for (unsigned part = 0; part < columns / 16; ++part) {
    const unsigned vector = part * 32 + lane;
    if (b_by_k)
      b.Read(true, vector / 2, vector % 2, mine.b[part]);
    else
      b.Read(false, vector / (columns / 8), vector % (columns / 8), mine.b[part]);
  }
  const bool adds = all.numbers[b_at + 1] != 0;
  const auto multiply = [&]<LeftFactor of_a>() {
    if (b_by_k)
      MultiplyRows<T, columns, of_a, true>(mine, adds);
    else
      MultiplyRows<T, columns, of_a, false>(mine, adds);
  };
  if constexpr (in_registers) {
    for (int i = 0; i < 8; ++i) mine.a[i] = static_cast<unsigned short>(all.numbers[i / 2] >> i % 2 * 16);
    multiply.template operator()<LeftFactor::kInRegisters>();
  } else {
    const MatrixDescriptor a(all.numbers[0]);
    if (all.numbers[5] == 0) {
      a.Read(true, first + lane / 2, lane % 2, mine.a);
      multiply.template operator()<LeftFactor::kByK>();
    } else {
      a.Read(false, lane / 2, first / 8 + lane % 2, mine.a);
      multiply.template operator()<LeftFactor::kByRow>();
    }
  }
}

// Fences, commits and waits of what is done at once here.
inline void NothingToWaitFor(int = 0) {}

// ex2.approx: 2 to the power of x. With `flushes`, denormal operands and results are zero, as .ftz says.
template <bool flushes>
inline void PowerOfTwo(float& result, float x) {
  constexpr float kLeastNormal = 1.17549435e-38f;
  if (flushes && std::fabs(x) < kLeastNormal) x = 0.0f;
  result = std::exp2(x);
  if (flushes && result < kLeastNormal) result = 0.0f;
}

}  // namespace evo_cpu
