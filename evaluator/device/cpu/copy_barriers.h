#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace evo {

// The barriers of a block that lie in its shared memory (mbarrier), by address. A phase of a barrier is complete when as many
// threads have arrived as it was made for, and copies have brought as many bytes as they said.
class CopyBarriers {
 public:
  // What a call leads to: the threads that wait no longer, whether the barrier has ended a phase before, or what is wrong with
  // it.
  struct Result {
    std::vector<int> released;
    bool ended = false;
    std::string fault;
  };

  // Before each block.
  void Clear() { barriers_.clear(); }
  Result Make(std::uintptr_t address, unsigned arrivals);
  // Arrives once; the phase needs so many bytes of copies more.
  Result Arrive(std::uintptr_t address, unsigned bytes);
  Result Complete(std::uintptr_t address, unsigned bytes);
  // Whether the last phase of this parity is complete, or there was none before (PTX ISA, mbarrier.try_wait.parity). Else the
  // thread waits from now on.
  bool IsComplete(std::uintptr_t address, unsigned parity, int thread, Result& result);

 private:
  struct Barrier {
    unsigned arrivals = 0;     // of each phase
    unsigned missing = 0;      // arrivals in this phase
    std::int64_t bytes = 0;    // that this phase still needs
    unsigned parity = 0;       // of this phase
    bool ended = false;        // a phase before this one
    std::vector<int> waiting;  // for its end
  };
  Barrier* Find(std::uintptr_t address, Result& result);
  static void EndPhase(Barrier& barrier, Result& result);

  std::map<std::uintptr_t, Barrier> barriers_;
};

}  // namespace evo
