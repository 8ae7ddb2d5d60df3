#include "evaluator/device/cpu/fiber_pool.h"

#include <boost/context/protected_fixedsize_stack.hpp>
#include <utility>

namespace evo {

namespace ctx = boost::context;

int FiberPool::Acquire() {
  if (!free_.empty()) {
    const int index = free_.back();
    free_.pop_back();
    return index;
  }
  const int index = static_cast<int>(fibers_.size());
  fibers_.push_back(std::make_unique<Fiber>());
  ctx::protected_fixedsize_stack allocator(kStackBytes);
  const ctx::stack_context stack = allocator.allocate();
  fibers_.back()->stack = static_cast<const char*>(stack.sp) - kStackBytes;
  fibers_.back()->context = ctx::fiber(std::allocator_arg, ctx::preallocated(stack.sp, stack.size, stack), allocator,
                                       [this, index](ctx::fiber&& caller) { return Loop(index, std::move(caller)); });
  return index;
}

void FiberPool::Resume(int fiber) {
  Fiber& resumed = *fibers_[static_cast<std::size_t>(fiber)];
  resumed.context = std::move(resumed.context).resume();
}

void FiberPool::Yield() { scheduler_ = std::move(scheduler_).resume(); }

ctx::fiber FiberPool::Loop(int index, ctx::fiber&& caller) {
  scheduler_ = std::move(caller);
  for (;;) {
    body_(index);
    free_.push_back(index);
    Yield();
  }
}

}  // namespace evo
