#include "db/lock_wait.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <thread>

namespace evo {
namespace {

using std::chrono::milliseconds;

constexpr int kDoublings = 6;  // pauses grow from 1 to 64 ms

}  // namespace

LockWaiter::LockWaiter(std::string path, LockWait wait) : path_(std::move(path)), wait_(std::move(wait)) {}

void LockWaiter::Serve(SQLite::Database& db) { sqlite3_busy_handler(db.getHandle(), OnLocked, this); }

int LockWaiter::OnLocked(void* self, int calls) { return static_cast<LockWaiter*>(self)->Wait(calls) ? 1 : 0; }

bool LockWaiter::Wait(int calls) {
  const Clock::time_point now = Clock::now();
  if (calls == 0) {
    since_ = now;
    said_ = false;
  }
  if (wait_.stop.stop_requested() && !stopped_) stopped_ = now;
  if (stopped_ ? now - *stopped_ >= wait_.after_stop : now - since_ >= wait_.longest) return false;
  if (!said_ && wait_.say && now - since_ >= wait_.until_said) {
    wait_.say(fmt::format("{}: locked by another program; what this run has evaluated is kept and written when that program ends",
                          path_));
    said_ = true;
  }
  std::this_thread::sleep_for(milliseconds(1) * (1 << std::min(calls, kDoublings)));
  return true;
}

}  // namespace evo
