#pragma once

namespace evo {

// Whether a candidate may be run once more. Each cause has a counter of its own: a retry for one leaves the other's untouched.
class Retries {
 public:
  // A first failure of the device or the reference may be the fault of an earlier candidate; a second is the machine's. A worker
  // that something else kills says nothing of the machine, unless it happens again and again.
  bool AfterInfrastructureFailure(bool from_outside = false) {
    return from_outside ? killed_++ < kMostKilled : infrastructure_failures_++ == 0;
  }
  // Cheating is believed only if it shows again in a fresh process: the candidate before may have overwritten a guard, and CUPTI
  // has been seen to give a kernel the name of one that an earlier, unloaded image had at the same address.
  bool AfterCheating() { return cheated_++ == 0; }

 private:
  static constexpr int kMostKilled = 2;
  int killed_ = 0;
  int infrastructure_failures_ = 0;
  int cheated_ = 0;
};

}  // namespace evo
