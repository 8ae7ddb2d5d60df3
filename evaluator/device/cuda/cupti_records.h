#pragma once

#include <cupti.h>

#include <filesystem>
#include <vector>

#include "evaluator/device/cuda/activity_records.h"
#include "platform/shared_library.h"

namespace evo {

// CUPTI's activity records of this process: kernels, memsets and copies, with the device's own timestamps. CUPTI is opened at run
// time. At most one at a time in a process, made before the first context; throws Error where CUPTI is missing or refuses.
class CuptiRecords {
 public:
  explicit CuptiRecords(const std::filesystem::path& cuda_root);
  ~CuptiRecords();
  CuptiRecords(const CuptiRecords&) = delete;
  CuptiRecords& operator=(const CuptiRecords&) = delete;

  // Forgets what was recorded so far.
  void Discard();
  // Everything recorded since, once `count` records or more are there or a fifth of a second has passed. The device is idle.
  // Throws Error if CUPTI lost records.
  std::vector<ActivityRecord> Collect(std::size_t count);

 private:
  void Require(CUptiResult result, const char* call) const;

  SharedLibrary library_;
  decltype(&cuptiGetResultString) get_result_string_ = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks_ = nullptr;
  decltype(&cuptiActivityEnable) enable_ = nullptr;
  decltype(&cuptiActivityDisable) disable_ = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all_ = nullptr;
};

}  // namespace evo
