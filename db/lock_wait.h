#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>

#include "db/wait_budget.h"

namespace SQLite {
class Database;
}

namespace evo {

// Time to wait for another process: enough to write a run's largest generation to a slow disk.
inline constexpr std::chrono::milliseconds kBusyTimeout{10'000};

// How a call waits while another program has locked the database.
struct LockWait {
  std::chrono::milliseconds longest = kBusyTimeout;
  std::chrono::milliseconds until_said{5'000};
  std::function<void(const std::string&)> say;  // gets a line once in each wait that is longer; may be empty
  std::stop_token stop;
  std::chrono::milliseconds after_stop{1'000};  // all waits together after a stop request or a wait without success
};

// Makes the calls on a database wait so. The database keeps a pointer to this object.
class LockWaiter {
 public:
  // `path` is for the line that is said.
  LockWaiter(std::string path, LockWait wait);
  LockWaiter(const LockWaiter&) = delete;
  LockWaiter& operator=(const LockWaiter&) = delete;

  // Precondition: this object outlives the database.
  void Serve(SQLite::Database& db);
  void SetStop(std::stop_token stop) { budget_.SetStop(std::move(stop)); }

 private:
  static int OnLocked(void* self, int calls);
  // Sleeps a little, and returns whether to try again. `calls`: how often it was called before in the same wait.
  bool Wait(int calls);

  std::string path_;
  LockWait wait_;
  WaitBudget budget_;
  bool said_ = false;
};

}  // namespace evo
