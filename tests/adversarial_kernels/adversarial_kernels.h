#pragma once

#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/outcome.h"

namespace evo {

// The stage that catches a kernel.
enum class CaughtBy {
  kCompiler,  // NVRTC or the checks of its PTX, so that the kernel never runs, on either device
  kRun,       // the checks of an evaluation, if any
  kHeldOut,   // an evaluation lets it pass, and the check of a champion candidate finds it
  kChampion,  // an evaluation may let it pass; then the check of a champion candidate finds it
  kTools,     // on a GPU an evaluation may let it pass, and compute-sanitizer finds it in a champion candidate; else as kRun
};

// A kernel of tests/adversarial_kernels/kernels and the outcome that it must have. Its name begins with its row of
// docs/hazards.md (two digits; 00 is a general fault) and continues with "honest" if it is an honest kernel of that row.
struct AdversarialKernel {
  std::string name;              // the name of its file, without .cu
  std::string task;              // a folder of tests/adversarial_kernels/tasks
  std::vector<Outcome> on_cuda;  // any of these; a kernel that may be kOk must gain nothing by what it does
  std::vector<Outcome> on_cpu;
  CaughtBy caught_by = CaughtBy::kRun;

  std::string row() const { return name.substr(0, 2); }
  bool honest() const { return name.find("honest") == 3; }
};

// For test messages.
inline void PrintTo(const AdversarialKernel& kernel, std::ostream* out) { *out << kernel.name << " of task " << kernel.task; }

std::vector<AdversarialKernel> AllAdversarialKernels();

// A kernel that is not caught on a device yet, and that is not run there.
struct Pending {
  std::string_view name;
  std::string_view device;
  std::string_view reason;
};

std::span<const Pending> AllPending();

// Why `kernel` is not run on the device; nullopt if it is run.
std::optional<std::string> PendingReason(const AdversarialKernel& kernel, std::string_view device);

// The kernel's text. Throws Error if the file cannot be read.
std::string SourceOf(const AdversarialKernel& kernel);

}  // namespace evo
