#include "evaluator/device/cpu/fiber_pool.h"

#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstdint>
#include <utility>

#include "evaluator/device/cpu/resident_pages.h"

namespace evo {

namespace ctx = boost::context;

namespace {

// Pages at a stack's top that are scrubbed even if they were never touched: fresh memory is zero, on which a kernel could rely.
constexpr std::size_t kTopPages = 2;
// What a leaf function may use below its frame.
constexpr std::size_t kOwnFrame = 192;
// Bodies begin this much deeper than the function that overwrites their stack.
constexpr std::size_t kGap = 512;

// Overwrites the running stack below this function's own frame. It calls nothing, since it overwrites the stack that a call would
// use.
[[gnu::noinline, gnu::no_sanitize("address")]] void FillBelow(char* stack, const char* touched, std::size_t pages,
                                                              const char* image, std::size_t page_bytes) {
  auto* end = static_cast<char*>(__builtin_frame_address(0)) - kOwnFrame;
  for (std::size_t page = 0; page < pages; ++page) {
    if (!touched[page]) continue;
    char* begin = stack + page * page_bytes;
    for (std::size_t at = 0; at + sizeof(std::uint64_t) <= page_bytes; at += sizeof(std::uint64_t)) {
      if (begin + at >= end) return;
      *reinterpret_cast<volatile std::uint64_t*>(begin + at) = *reinterpret_cast<const std::uint64_t*>(image + at);
    }
  }
}

[[gnu::noinline]] void CallDeeper(const std::function<void(int)>& body, int index) {
  char gap[kGap];
  asm volatile("" : : "r"(gap) : "memory");  // or the compiler leaves it out
  body(index);
  asm volatile("" : : "r"(gap) : "memory");  // or the call above takes over this frame
}

}  // namespace

int FiberPool::Acquire() {
  if (!free_.empty()) {
    const int index = free_.back();
    free_.pop_back();
    fibers_[static_cast<std::size_t>(index)]->used = true;
    return index;
  }
  const int index = static_cast<int>(fibers_.size());
  fibers_.push_back(std::make_unique<Fiber>());
  ctx::protected_fixedsize_stack allocator(kStackBytes);
  const ctx::stack_context stack = allocator.allocate();
  fibers_.back()->stack = static_cast<char*>(stack.sp) - kStackBytes;
  fibers_.back()->context = ctx::fiber(std::allocator_arg, ctx::preallocated(stack.sp, stack.size, stack), allocator,
                                       [this, index](ctx::fiber&& caller) { return Loop(index, std::move(caller)); });
  ScrubStack(index);
  fibers_.back()->used = true;
  return index;
}

void FiberPool::Resume(int fiber) {
  Fiber& resumed = *fibers_[static_cast<std::size_t>(fiber)];
  resumed.context = std::move(resumed.context).resume();
}

void FiberPool::Yield() { scheduler_ = std::move(scheduler_).resume(); }

void FiberPool::Scrub(const DevicePattern& pattern) {
  scrubbing_.page = PageOf(pattern);
  for (std::size_t i = 0; i < fibers_.size(); ++i) {
    if (fibers_[i]->used) ScrubStack(static_cast<int>(i));
  }
}

void FiberPool::ScrubStack(int index) {
  Fiber& fiber = *fibers_[static_cast<std::size_t>(index)];
  if (scrubbing_.page.empty()) scrubbing_.page = PageOf({});
  scrubbing_.touched = TouchedPages(fiber.stack, kStackBytes);
  for (std::size_t i = 1; i <= kTopPages; ++i) scrubbing_.touched[scrubbing_.touched.size() - i] = 1;
  scrubbing_.now = true;
  Resume(index);
  scrubbing_.now = false;
  fiber.used = false;
}

ctx::fiber FiberPool::Loop(int index, ctx::fiber&& caller) {
  scheduler_ = std::move(caller);
  for (;;) {
    if (scrubbing_.now) {
      FillBelow(fibers_[static_cast<std::size_t>(index)]->stack, scrubbing_.touched.data(), scrubbing_.touched.size(),
                scrubbing_.page.data(), scrubbing_.page.size());
    } else {
      CallDeeper(body_, index);
      free_.push_back(index);
    }
    Yield();
  }
}

}  // namespace evo
