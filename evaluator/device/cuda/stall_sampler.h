#pragma once

#include <cupti.h>
#include <cupti_pcsampling.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/stall_line.h"
#include "evaluator/device/cuda/cupti_library.h"
#include "evaluator/device/device.h"

namespace evo {

// Samples at which instruction warps are, and why they wait there, by CUPTI's PC sampling. A process that does this times
// nothing, and counts nothing meanwhile. Throws Error, which says what to do, where CUPTI is missing or users may not sample.
class StallSampler {
 public:
  // The thread's current CUDA context must outlive this.
  explicit StallSampler(const std::filesystem::path& cuda_root);
  ~StallSampler();
  StallSampler(const StallSampler&) = delete;
  StallSampler& operator=(const StallSampler&) = delete;

  // Calls `prepare` and then `run` once to see how long that takes, then so many times, and samples what `run` starts, which has
  // ended when it returns. `image` of what runs says the lines. The first failure of either ends it.
  using Step = std::function<DeviceStatus()>;
  SampledStalls Sample(const Step& prepare, const Step& run, int times, const std::string& image);

 private:
  struct Functions {
    decltype(&cuptiPCSamplingEnable) enable = nullptr;
    decltype(&cuptiPCSamplingDisable) disable = nullptr;
    decltype(&cuptiPCSamplingSetConfigurationAttribute) configure = nullptr;
    decltype(&cuptiPCSamplingGetNumStallReasons) count_reasons = nullptr;
    decltype(&cuptiPCSamplingGetStallReasons) reasons = nullptr;
    decltype(&cuptiPCSamplingStart) start = nullptr;
    decltype(&cuptiPCSamplingStop) stop = nullptr;
    decltype(&cuptiPCSamplingGetData) data = nullptr;
  };
  struct Buffer {
    std::vector<CUpti_PCSamplingPCData> places;
    std::vector<CUpti_PCSamplingStallReason> reasons;  // of each place, one after another
    CUpti_PCSamplingData data{};
  };

  void FindFunctions();
  void FindReasons();
  void Prepare(Buffer& buffer) const;
  void Configure(std::uint32_t period);
  void Collect(const std::string& image, std::vector<StallSample>& samples);

  CuptiLibrary cupti_;
  Functions functions_;
  CUcontext context_ = nullptr;
  std::vector<std::string> reasons_;  // by index, without what all have in common
  Buffer sampled_;                    // CUPTI writes there while it samples
  Buffer collected_;
  std::set<char*> names_;  // of functions; records share them, and we free them
};

}  // namespace evo
