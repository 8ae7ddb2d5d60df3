#pragma once

#include <cstddef>
#include <cstdint>

namespace evo {

// When an address was accessed and by which thread; 0: never. Made and read by RaceDetector.
using Stamp = std::uint64_t;

struct ShadowCell {
  Stamp write = 0;
  Stamp read = 0;
  Stamp other_read = 0;  // of another thread, where possible of another warp
};

// What a RaceDetector remembers of a range of memory: one cell for each 4-byte word until a thread accesses a part of the word,
// then one cell for each half or byte. Takes 24 bytes for each byte that is accessed.
class Shadow {
 public:
  // `begin` is a multiple of 4. Check ok() before use: there may not have been enough memory.
  Shadow(std::uintptr_t begin, std::size_t bytes);
  ~Shadow();
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;
  bool ok() const { return cells_ != nullptr && grain_ != nullptr; }

  // Calls visit(cell, address, size) for all of [address, address + bytes), which lies inside, until one returns false.
  template <typename Visit>
  void ForEach(std::uintptr_t address, std::size_t bytes, Visit visit);

 private:
  std::uintptr_t begin_;
  std::size_t bytes_;
  ShadowCell* cells_;     // one for each byte; only the first counts for a word that is not split
  unsigned char* grain_;  // for each word, 0: one cell, 1: a cell for each half, 2: a cell for each byte
};

template <typename Visit>
void Shadow::ForEach(std::uintptr_t address, std::size_t bytes, Visit visit) {
  std::size_t at = address - begin_;
  const std::size_t end = at + bytes;
  while (at < end) {
    unsigned char& grain = grain_[at / 4];
    ShadowCell* word = cells_ + (at & ~std::size_t{3});
    std::size_t size = std::size_t{4} >> grain;
    while (size > 1 && (at % size != 0 || end - at < size)) {
      size /= 2;
      ++grain;
      for (std::size_t i = 0; i < 4; i += 2 * size) word[i + size] = word[i];
    }
    if (!visit(cells_[at], begin_ + at, size)) return;
    at += size;
  }
}

}  // namespace evo
