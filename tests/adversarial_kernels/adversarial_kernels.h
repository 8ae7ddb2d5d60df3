#pragma once

#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/outcome.h"

namespace evo {

// Who finds out.
enum class CaughtBy {
  kCompiler,  // NVRTC or a look at its PTX: never runs, on either device
  kRun,       // the checks of an evaluation, or nobody
  kHeldOut,   // an evaluation lets it through; only a would-be champion's check finds it
  kTools,  // on a GPU an evaluation may let it through, and compute-sanitizer finds it in a would-be champion; on the cpu device
           // as kRun
};

// A kernel of tests/adversarial_kernels/kernels and what must become of it. Its name starts with the row of docs/hazards.md that
// it stands for (two digits, 00: a general fault) and goes on with "honest" if it is the honest one of that row.
struct AdversarialKernel {
  std::string name;              // the file's, without .cu
  std::string task;              // a folder of tests/adversarial_kernels/tasks
  std::vector<Outcome> on_cuda;  // any of them will do; one that may be kOk must gain nothing by its kernel
  std::vector<Outcome> on_cpu;
  CaughtBy caught_by = CaughtBy::kRun;

  std::string row() const { return name.substr(0, 2); }
  bool honest() const { return name.find("honest") == 3; }
};

// For test messages.
inline void PrintTo(const AdversarialKernel& kernel, std::ostream* out) { *out << kernel.name << " of task " << kernel.task; }

std::vector<AdversarialKernel> AllAdversarialKernels();

// A kernel that is not caught yet: it is not run there.
struct Pending {
  std::string_view name;
  std::string_view device;
  std::string_view reason;
};

std::span<const Pending> AllPending();

// Why `kernel` is not run on the device; nullopt if it is.
std::optional<std::string> PendingReason(const AdversarialKernel& kernel, std::string_view device);

// The kernel's text. Throws Error if the file cannot be read.
std::string SourceOf(const AdversarialKernel& kernel);

}  // namespace evo
