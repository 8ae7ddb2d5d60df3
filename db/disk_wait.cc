#include "db/disk_wait.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "core/error.h"

namespace evo {
namespace {

using std::chrono::ceil;
using std::chrono::minutes;
using std::chrono::seconds;

// Whether a file beside the database cannot grow.
bool HasNoRoomBeside(const std::string& path) {
  std::string name = path + ".room-XXXXXX";
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) return errno == ENOSPC || errno == EDQUOT;
  ::unlink(name.c_str());
  const std::array<char, 1 << 16> some{};
  const bool none = ::write(file, some.data(), some.size()) < static_cast<ssize_t>(some.size()) && errno != EFBIG;
  ::close(file);
  return none;
}

// SQLite knows a full disk. Where a quota is used up it says only that writing failed.
bool IsFull(const SQLite::Exception& error, const std::string& path) {
  const int code = error.getErrorCode();
  return code == SQLITE_FULL || ((code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && HasNoRoomBeside(path));
}

std::string Duration(std::chrono::steady_clock::duration time) {
  return time < minutes(2) ? fmt::format("{} s", ceil<seconds>(time).count())
                           : fmt::format("{} minutes", ceil<minutes>(time).count());
}

}  // namespace

DiskWaiter::DiskWaiter(std::string path, DiskWait wait)
    : path_(std::move(path)), wait_(std::move(wait)), budget_(wait_.longest, {}, wait_.stop) {}

void DiskWaiter::Call(const std::function<void()>& work) {
  for (bool waits = false;; Pause()) {
    try {
      return work();
    } catch (const SQLite::Exception& error) {
      if (!IsFull(error, path_)) throw;
    }
    if (!waits) budget_.Begin();
    if (!budget_.Left()) {
      const std::string still = waits ? fmt::format("still full after {}", Duration(budget_.waited())) : "full";
      throw Error(fmt::format("{}: the disk is {}; what was stored is whole: free some space, then go on with `evo run --resume`",
                              path_, still));
    }
    if (!std::exchange(waits, true) && wait_.say)
      wait_.say(
          fmt::format("{}: the disk is full; what this run has evaluated is kept, and written when there is room: free some "
                      "space within {}",
                      path_, Duration(wait_.longest)));
  }
}

// A stop request ends it.
void DiskWaiter::Pause() const {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, budget_.stop(), wait_.pause, [] { return false; });
}

}  // namespace evo
