#pragma once

#include <optional>

#include "mutators/analysis/thread_runs/thread_arithmetic.h"
#include "mutators/analysis/thread_runs/thread_memory.h"

namespace evo {

// A call of an atomic operation.
struct ThreadAtomic {
  ThreadCallee::Kind kind = ThreadCallee::Kind::kUnknown;
  ThreadType type = ThreadType::kOther;  // of the element
  int node = -1;                         // that names it
};

// What such a call returns, whose arguments have these values; nullopt if it is not followed what others make of the element.
std::optional<ThreadValue> AtomicCalled(ThreadArithmetic& arithmetic, ThreadMemory& memory, const ThreadAtomic& atomic,
                                        const ThreadArguments& values);

}  // namespace evo
