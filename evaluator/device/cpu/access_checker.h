#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evaluator/device/cpu/memory_map.h"
#include "evaluator/device/cpu/race_detector.h"
#include "evaluator/device/cpu/shared_memory.h"

namespace evo {

enum class AccessFaultKind { kOutside, kRace, kNoRoom };

// Why a checked kernel cannot go on: an access out of bounds, a race, or no memory to look for races.
struct AccessFault {
  AccessFaultKind kind = AccessFaultKind::kOutside;
  std::string message;
};

// Judges every access of a checked launch: against the exact bounds of buffers, module variables and shared variables, then for
// races. Accesses to a thread's own stack and by the image's own machinery do not get here.
class AccessChecker {
 public:
  // Both must outlive the checker.
  AccessChecker(SharedMemory& shared, MemoryMap& buffers) : shared_(shared), buffers_(buffers) {}

  // `image`: the module's own data.
  void BeginLaunch(MemoryMap* image, unsigned threads);
  void BeginBlock() { races_.BeginBlock(); }
  // The running thread stops here; judges its last write.
  std::optional<AccessFault> FinishWarp();
  // All threads of the block have arrived, or the block has ended.
  std::optional<AccessFault> BlockBarrier();
  void WarpBarrier(unsigned warp, unsigned lanes) { races_.WarpBarrier(warp, lanes); }
  void Fence(unsigned thread) { races_.Fence(thread); }
  void Release(unsigned thread) { races_.Release(thread); }
  void Acquire(unsigned thread) { races_.Acquire(thread); }

  std::optional<AccessFault> Access(unsigned thread, std::uintptr_t address, std::size_t bytes, evo_cpu_access kind);

 private:
  MemoryRange* Find(std::uintptr_t address, std::size_t bytes);
  AccessFault Outside(std::uintptr_t address, std::size_t bytes, evo_cpu_access kind);
  AccessFault Describe(const Race& race);

  SharedMemory& shared_;
  MemoryMap& buffers_;
  MemoryMap* image_ = nullptr;
  RaceDetector races_;
  MemoryRange* recent_[2] = {nullptr, nullptr};
  std::optional<Race> rewrite_;        // is judged once the write has happened
  std::vector<unsigned char> before_;  // the bytes before the write
};

}  // namespace evo
