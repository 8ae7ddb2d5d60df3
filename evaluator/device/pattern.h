#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel_templates/dtype.h"

namespace evo {

// A mixed word for each index: the pseudo-random words of a pattern, and what hashes sum over.
std::uint64_t MixWord(std::uint64_t word, std::uint64_t index);

// What memory is filled with: one 8-byte word again and again, or pseudo-random words that follow from it.
struct DevicePattern {
  std::uint64_t word = ~std::uint64_t{0};  // in bytes as they lie in memory; all ones is NaN in every floating-point dtype
  bool random = false;

  // The word number `index`, counted from where the filled range begins.
  std::uint64_t Word(std::uint64_t index) const { return random ? MixWord(word, index) : word; }
  bool operator==(const DevicePattern&) const = default;
};

// Fills memory before a run.
struct DevicePoison {
  std::uint64_t address = 0;
  std::size_t bytes = 0;
  DevicePattern pattern;
  // If not 0, the pattern is not used: there are as many doubles here as elements of `dtype` fit into `bytes`, and they are
  // written instead, converted.
  std::uint64_t answer = 0;
  Dtype dtype = Dtype::kU8;
};

// The bytes of the pattern from `offset` on, counted from where the filled range begins.
std::vector<std::byte> BytesOf(const DevicePattern& pattern, std::size_t offset, std::size_t bytes);

// Fills host memory, where addresses are pointers.
void FillHere(const DevicePoison& poison);

}  // namespace evo
