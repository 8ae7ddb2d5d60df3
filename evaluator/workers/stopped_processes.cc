#include "evaluator/workers/stopped_processes.h"

#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace evo {
namespace {

namespace fs = std::filesystem;

// What the kernel says of a process.
struct ProcessStat {
  char state = 0;
  pid_t parent = 0;
  pid_t group = 0;
};

ProcessStat StatOf(const fs::path& process) {
  std::string text;
  std::getline(std::ifstream(process / "stat"), text);
  ProcessStat stat;
  const std::size_t name_end = text.rfind(')');  // the name may hold anything
  if (name_end == std::string::npos) return stat;
  std::istringstream fields(text.substr(name_end + 1));
  fields >> stat.state >> stat.parent >> stat.group;
  return fields ? stat : ProcessStat{};
}

}  // namespace

bool AnyDescendantStopped(pid_t process) {
  std::error_code ended;
  const fs::path threads = fs::path("/proc") / std::to_string(process) / "task";
  for (auto thread = fs::directory_iterator(threads, ended); !ended && thread != fs::directory_iterator();
       thread.increment(ended)) {
    std::ifstream children(thread->path() / "children");
    for (pid_t child = 0; children >> child;) {
      if (StatOf(fs::path("/proc") / std::to_string(child)).state == 'T' || AnyDescendantStopped(child)) return true;
    }
  }
  return false;
}

bool AnyStopped(pid_t group) {
  std::error_code ended;
  for (auto entry = fs::directory_iterator("/proc", ended); !ended && entry != fs::directory_iterator(); entry.increment(ended)) {
    if (!std::isdigit(static_cast<unsigned char>(entry->path().filename().native().front()))) continue;
    if (const ProcessStat stat = StatOf(entry->path()); stat.group == group && stat.state == 'T') return true;
  }
  return false;
}

}  // namespace evo
