#pragma once

#include <cupti_profiler_host.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/hardware_counters.h"
#include "evaluator/device/cuda/cupti_library.h"

namespace evo {

// What is counted on a chip, and what the counted numbers mean. Needs no GPU. Throws Error where CUPTI does not know the chip.
class CounterMetrics {
 public:
  // `cupti` outlives this. `chip` as CUPTI calls it: "GH100". `availability`: what this process may count; empty: everything.
  CounterMetrics(const CuptiLibrary& cupti, const std::string& chip, std::span<const std::uint8_t> availability = {});
  ~CounterMetrics();
  CounterMetrics(const CounterMetrics&) = delete;
  CounterMetrics& operator=(const CounterMetrics&) = delete;

  // Names of CUPTI's metrics. Those that the chip does not have are left out.
  const std::vector<const char*>& names() const { return names_; }
  // How the hardware is set up to count them.
  const std::vector<std::uint8_t>& config_image() const { return config_image_; }
  // How often a program has to run until all are counted.
  std::size_t passes() const { return passes_; }
  // The counters of that many ranges of a counter data image, together.
  HardwareCounters Read(std::span<const std::uint8_t> counter_data, std::size_t ranges) const;
  // Of the values of `names` in each range: shares of the peak are averages by time, shares in another metric of both sums.
  static HardwareCounters Together(std::span<const char* const> names, std::span<const std::vector<double>> ranges);

 private:
  void KeepKnownNames(std::span<const std::uint8_t> availability, const std::string& chip);
  CUpti_Profiler_Host_Object* Open(std::span<const std::uint8_t> availability, const std::string& chip) const;
  CUptiResult Add(CUpti_Profiler_Host_Object* host, std::vector<const char*>& names) const;
  std::vector<double> ValuesOf(std::span<const std::uint8_t> counter_data, std::size_t range) const;

  struct Functions {
    decltype(&cuptiProfilerHostInitialize) initialize = nullptr;
    decltype(&cuptiProfilerHostDeinitialize) deinitialize = nullptr;
    decltype(&cuptiProfilerHostConfigAddMetrics) add_metrics = nullptr;
    decltype(&cuptiProfilerHostGetConfigImageSize) config_image_size = nullptr;
    decltype(&cuptiProfilerHostGetConfigImage) config_image = nullptr;
    decltype(&cuptiProfilerHostGetNumOfPasses) passes = nullptr;
    decltype(&cuptiProfilerHostEvaluateToGpuValues) evaluate = nullptr;
  };

  const CuptiLibrary& cupti_;
  Functions functions_;
  CUpti_Profiler_Host_Object* host_ = nullptr;
  std::vector<const char*> names_;
  std::vector<std::uint8_t> config_image_;
  std::size_t passes_ = 0;
};

}  // namespace evo
