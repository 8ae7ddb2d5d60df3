#pragma once

#include <unistd.h>

#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "platform/descriptor.h"

namespace evo {

// The end of what a worker has written to its standard error.
class StderrTail {
 public:
  // Does not block when there is nothing to read.
  explicit StderrTail(Descriptor read_end) : fd_(std::move(read_end)) {}

  int fd() const { return fd_.get(); }
  // Of all that was read so far.
  std::size_t bytes() const { return bytes_; }

  // Reads what has come, but no more than a pipe holds: a worker that writes without end must not keep us here.
  void Drain() {
    constexpr int kReads = 16;  // of 4 KiB each: the 64 KiB that a pipe holds
    std::array<char, 4096> piece;
    int reads = 0;
    for (ssize_t n; ++reads <= kReads && (n = ::read(fd_.get(), piece.data(), piece.size())) > 0;) {
      tail_.append(piece.data(), static_cast<std::size_t>(n));
      bytes_ += static_cast<std::size_t>(n);
      if (tail_.size() > 2 * kKept) tail_.erase(0, tail_.size() - kKept);
    }
  }

  std::string LastLine() const {
    const auto end = tail_.find_last_not_of("\r\n ");  // ssh ends its lines as a terminal needs it
    if (end == std::string::npos) return {};
    const auto newline = tail_.rfind('\n', end);
    const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
    return tail_.substr(begin, end - begin + 1);
  }

 private:
  static constexpr std::size_t kKept = 4096;
  Descriptor fd_;
  std::string tail_;
  std::size_t bytes_ = 0;
};

}  // namespace evo
