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

LockWaiter::LockWaiter(std::string path, LockWait wait)
    : path_(std::move(path)), wait_(std::move(wait)), budget_(wait_.longest, wait_.after_stop, wait_.stop) {}

void LockWaiter::Serve(SQLite::Database& db) { sqlite3_busy_handler(db.getHandle(), OnLocked, this); }

int LockWaiter::OnLocked(void* self, int calls) { return static_cast<LockWaiter*>(self)->Wait(calls) ? 1 : 0; }

bool LockWaiter::Wait(int calls) {
  if (calls == 0) {
    budget_.Begin();
    said_ = false;
  }
  if (!budget_.Left()) return false;
  if (!said_ && wait_.say && budget_.waited() >= wait_.until_said) {
    wait_.say(fmt::format("{}: locked by another program; what this run has evaluated is kept and written when that program ends",
                          path_));
    said_ = true;
  }
  std::this_thread::sleep_for(milliseconds(1) * (1 << std::min(calls, kDoublings)));
  return true;
}

}  // namespace evo
