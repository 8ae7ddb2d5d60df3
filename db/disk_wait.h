#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>

#include "db/wait_budget.h"

namespace evo {

// How a call waits while there is no room for what it writes. By default it does not.
struct DiskWait {
  std::chrono::milliseconds longest{0};
  std::chrono::milliseconds pause{1'000};       // between two attempts
  std::function<void(const std::string&)> say;  // gets a line once in each wait; may be empty
  std::stop_token stop;                         // ends the wait; one more attempt is made
};

// Repeats what fails because a disk or a quota is full.
class DiskWaiter {
 public:
  // `path`: of the database.
  DiskWaiter(std::string path, DiskWait wait);

  // Calls `work`, which is one transaction, until there is room for it. Throws what `work` throws for any other
  // reason, and Error, which says for how long it has waited, when it gives up.
  void Call(const std::function<void()>& work);

  void SetStop(std::stop_token stop) { budget_.SetStop(std::move(stop)); }

 private:
  void Pause() const;

  std::string path_;
  DiskWait wait_;
  WaitBudget budget_;
};

}  // namespace evo
