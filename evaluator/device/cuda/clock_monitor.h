#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <string>

#include "core/evaluation.h"

namespace evo {

// Reads a GPU's clocks through NVIDIA's management library (NVML, part of the driver). Changes nothing.
class ClockMonitor {
 public:
  // `ordinal` is CUDA's. Without NVML, or for a GPU that it does not know, the clocks stay unknown.
  explicit ClockMonitor(int ordinal);
  ~ClockMonitor();
  ClockMonitor(const ClockMonitor&) = delete;
  ClockMonitor& operator=(const ClockMonitor&) = delete;

  // All clocks at this moment.
  ClockState Read();
  // Only the clock of the multiprocessors and why it is throttled, at most this old: asking the driver takes longer than a short
  // kernel. Unknown while NVML is being opened in the background, which takes a tenth of a second.
  ClockState Glance(std::chrono::milliseconds age);

 private:
  struct Library;
  static std::unique_ptr<Library> Open(const std::string& bus);

  std::future<std::unique_ptr<Library>> opening_;
  std::unique_ptr<Library> library_;  // null: not opened yet, or the clocks are unknown
  ClockState last_;
  std::chrono::steady_clock::time_point read_at_{};
};

}  // namespace evo
