#pragma once

#include <cstddef>
#include <cstdint>

namespace evo {

// When and by whom a place was touched; 0: never. Made and read by RaceDetector.
using Stamp = std::uint64_t;

struct ShadowCell {
  Stamp write = 0;
  Stamp read = 0;
  Stamp other_read = 0;     // of another thread, where possible of another warp
};

// What a RaceDetector remembers of a range of memory: a cell for each 4-byte word until somebody touches a part of the word, then one for
// each byte of it. Costs 24 bytes a byte of what is really touched.
class Shadow {
 public:
  // `begin` is a multiple of 4.
  Shadow(std::uintptr_t begin, std::size_t bytes);
  ~Shadow();
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  // Calls visit(cell, address, size) for all of [address, address + bytes), which lies inside, until one returns false.
  template <typename Visit>
  void ForEach(std::uintptr_t address, std::size_t bytes, Visit visit);

 private:
  std::uintptr_t begin_;
  std::size_t bytes_;
  ShadowCell* cells_;       // of bytes; of a word that is not split only the first counts
  unsigned char* split_;    // of words
};

template <typename Visit>
void Shadow::ForEach(std::uintptr_t address, std::size_t bytes, Visit visit) {
  std::size_t at = address - begin_;
  const std::size_t end = at + bytes;
  while (at < end) {
    ShadowCell* word = cells_ + (at & ~std::size_t{3});
    if (split_[at / 4] == 0) {
      if (at % 4 == 0 && end - at >= 4) {
        if (!visit(*word, begin_ + at, std::size_t{4})) return;
        at += 4;
        continue;
      }
      word[1] = word[2] = word[3] = word[0];
      split_[at / 4] = 1;
    }
    if (!visit(cells_[at], begin_ + at, std::size_t{1})) return;
    ++at;
  }
}

}  // namespace evo
