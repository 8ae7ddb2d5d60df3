#include "evaluator/workers/group_processes.h"

#include <unistd.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <string>

namespace evo {
namespace {

namespace fs = std::filesystem;

struct Status {
  char state = 0;
  pid_t group = 0;
  long ticks = 0;  // user and system, own and of children that were waited for
};

// As proc(5) describes it; nullopt if the process has ended.
std::optional<Status> ReadStatus(const fs::path& process) {
  std::string text;
  std::getline(std::ifstream(process / "stat"), text);
  const std::size_t name_end = text.rfind(')');  // the name may hold anything
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  Status status;
  pid_t parent = 0;
  std::string skipped;
  fields >> status.state >> parent >> status.group;
  for (int field = 6; field < 14; ++field) fields >> skipped;
  for (int field = 14; field < 18; ++field) {
    long ticks = 0;
    fields >> ticks;
    status.ticks += ticks;
  }
  return fields ? std::optional(status) : std::nullopt;
}

// Until `visit` returns false.
void VisitGroup(pid_t group, const std::function<bool(const Status&)>& visit) {
  std::error_code ended;
  for (auto entry = fs::directory_iterator("/proc", ended); !ended && entry != fs::directory_iterator(); entry.increment(ended)) {
    if (!std::isdigit(static_cast<unsigned char>(entry->path().filename().native().front()))) continue;
    const auto status = ReadStatus(entry->path());
    if (status && status->group == group && !visit(*status)) return;
  }
}

std::chrono::milliseconds ToTime(long ticks) { return std::chrono::milliseconds(ticks * 1000 / ::sysconf(_SC_CLK_TCK)); }

}  // namespace

bool AnyDescendantStopped(pid_t process) {
  std::error_code ended;
  const fs::path threads = fs::path("/proc") / std::to_string(process) / "task";
  for (auto thread = fs::directory_iterator(threads, ended); !ended && thread != fs::directory_iterator();
       thread.increment(ended)) {
    std::ifstream children(thread->path() / "children");
    for (pid_t child = 0; children >> child;) {
      const auto status = ReadStatus(fs::path("/proc") / std::to_string(child));
      if ((status && status->state == 'T') || AnyDescendantStopped(child)) return true;
    }
  }
  return false;
}

bool AnyStopped(pid_t group) {
  bool stopped = false;
  VisitGroup(group, [&](const Status& status) {
    stopped = status.state == 'T';
    return !stopped;
  });
  return stopped;
}

std::chrono::milliseconds ProcessorTime(pid_t pid) {
  const auto status = ReadStatus("/proc/" + std::to_string(pid));
  return ToTime(status ? status->ticks : 0);
}

std::chrono::milliseconds ProcessorTimeOfGroup(pid_t group) {
  long ticks = 0;
  VisitGroup(group, [&](const Status& status) {
    ticks += status.ticks;
    return true;
  });
  return ToTime(ticks);
}

}  // namespace evo
