#pragma once

#include <string>
#include <utility>

namespace evo {

// Why a kernel that runs on numbers is not understood. The first reason counts; from then on nothing else does.
class Refusal {
 public:
  void Add(std::string why) {
    if (why_.empty()) why_ = std::move(why);
  }
  bool given() const { return !why_.empty(); }
  const std::string& why() const { return why_; }

 private:
  friend class Nesting;
  std::string why_;
  int nested_ = 0;
};

// A statement or an expression that is being run, with those within it: they may run on a small stack (thread_block.h).
class Nesting {
 public:
  // So many are below each other. One takes up to 870 bytes of the stack, 1.8 KiB without optimisation and 3.6 KiB with
  // sanitizers.
  static constexpr int kMost = 240;

  explicit Nesting(Refusal& refusal) : depth_(refusal.nested_) { ++depth_; }
  ~Nesting() { --depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
  bool TooDeep() const { return depth_ > kMost; }

 private:
  int& depth_;
};

}  // namespace evo
