#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "evaluator/device/pattern.h"

namespace evo {

// Stacks that CUDA threads run on, used by one thread after another. A scheduler on the caller's own stack resumes a fiber, and
// the fiber yields to it.
class FiberPool {
 public:
  // Kernels keep accumulators and small arrays on the stack. A guard page below it turns an overflow into a crash.
  static constexpr std::size_t kStackBytes = 256 * 1024;

  // `body` is what a fiber does each time that it is acquired and resumed. When it returns, the fiber is free again.
  explicit FiberPool(std::function<void(int fiber)> body) : body_(std::move(body)) {}

  // A free fiber, a new one if there is none. The caller resumes it at once.
  int Acquire();
  // Returns when the fiber yields or its body has returned.
  void Resume(int fiber);
  // On a fiber: returns when the scheduler resumes it.
  void Yield();
  // Overwrites what bodies have left on the stacks. To be called while all fibers are free.
  void Scrub(const DevicePattern& pattern);
  // The lowest address of its stack.
  const void* stack(int fiber) const { return fibers_[static_cast<std::size_t>(fiber)]->stack; }

 private:
  struct Fiber {
    boost::context::fiber context;
    char* stack = nullptr;
    bool used = false;  // since it was scrubbed
  };
  // What a fiber that is resumed for it writes over its own stack, and over which of its pages.
  struct Scrubbing {
    std::vector<char> page;
    std::vector<char> touched;
    bool now = false;
  };
  boost::context::fiber Loop(int index, boost::context::fiber&& caller);
  void ScrubStack(int index);

  std::function<void(int fiber)> body_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<int> free_;
  boost::context::fiber scheduler_;
  Scrubbing scrubbing_;
};

}  // namespace evo
