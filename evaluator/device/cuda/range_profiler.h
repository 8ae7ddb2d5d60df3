#pragma once

#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "core/hardware_counters.h"
#include "evaluator/device/cuda/counter_metrics.h"
#include "evaluator/device/cuda/cupti_library.h"
#include "evaluator/device/device.h"

namespace evo {

// Counts what the hardware does while something runs on one GPU, by CUPTI's range profiler. A process that does this times
// nothing. Throws Error, which says what to do, where CUPTI is missing, the GPU is not known to it, or users may not count.
class RangeProfiler {
 public:
  // The GPU's context must be the thread's current one, and outlive this.
  RangeProfiler(const std::filesystem::path& cuda_root, int ordinal);
  ~RangeProfiler();
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  // Calls `prepare` and then `run` once for each pass; what `run` starts, so many launches, is counted and has ended when it
  // returns. The first failure of either ends the count.
  using Step = std::function<DeviceStatus()>;
  CountedRun Count(const Step& prepare, const Step& run, std::size_t launches);

 private:
  void FindFunctions();
  std::vector<std::uint8_t> Availability(CUcontext context) const;
  std::string ChipName(int ordinal) const;
  void MakeCounterData(std::size_t launches);
  void Configure(std::size_t launches);

  struct Functions {
    decltype(&cuptiProfilerInitialize) initialize = nullptr;
    decltype(&cuptiProfilerDeInitialize) deinitialize = nullptr;
    decltype(&cuptiProfilerGetCounterAvailability) availability = nullptr;
    decltype(&cuptiDeviceGetChipName) chip_name = nullptr;
    decltype(&cuptiRangeProfilerEnable) enable = nullptr;
    decltype(&cuptiRangeProfilerDisable) disable = nullptr;
    decltype(&cuptiRangeProfilerGetCounterDataSize) counter_data_size = nullptr;
    decltype(&cuptiRangeProfilerCounterDataImageInitialize) initialize_counter_data = nullptr;
    decltype(&cuptiRangeProfilerSetConfig) set_config = nullptr;
    decltype(&cuptiRangeProfilerStart) start = nullptr;
    decltype(&cuptiRangeProfilerStop) stop = nullptr;
    decltype(&cuptiRangeProfilerDecodeData) decode_data = nullptr;
    decltype(&cuptiRangeProfilerGetCounterDataInfo) counter_data_info = nullptr;
  };

  CuptiLibrary cupti_;
  Functions functions_;
  CUpti_RangeProfiler_Object* profiler_ = nullptr;
  std::unique_ptr<CounterMetrics> metrics_;
  std::vector<std::uint8_t> counter_data_;
};

}  // namespace evo
