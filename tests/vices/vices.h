#pragma once

#include <string>
#include <vector>

#include "core/outcome.h"

namespace evo {

// A kernel with one vice for the task in tests/vices/task, and what must become of it. kOk: it is honest.
struct Vice {
  std::string name;
  std::string source;
  std::vector<Outcome> on_cuda;    // any of them will do
  std::vector<Outcome> on_cpu;
};

std::vector<Vice> AllVices();

}  // namespace evo
