#pragma once

#include <cupti.h>

#include <filesystem>
#include <vector>

#include "evaluator/device/cuda/activity_records.h"
#include "evaluator/device/cuda/cupti_library.h"

namespace evo {

// CUPTI's activity records of this process: kernels, memsets and copies, with the device's own timestamps. CUPTI is opened at run
// time. A process has at most one at a time, made before the first context. Throws Error where CUPTI is missing or fails.
class CuptiRecords {
 public:
  explicit CuptiRecords(const std::filesystem::path& cuda_root);
  ~CuptiRecords();
  CuptiRecords(const CuptiRecords&) = delete;
  CuptiRecords& operator=(const CuptiRecords&) = delete;

  // Forgets what was recorded so far.
  void Discard();
  // The records since then, as soon as there are `count` or a fifth of a second has passed. Precondition: the device is idle.
  // Throws Error if CUPTI lost records.
  std::vector<ActivityRecord> Collect(std::size_t count);

 private:
  CuptiLibrary library_;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks_ = nullptr;
  decltype(&cuptiActivityEnable) enable_ = nullptr;
  decltype(&cuptiActivityDisable) disable_ = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all_ = nullptr;
};

}  // namespace evo
