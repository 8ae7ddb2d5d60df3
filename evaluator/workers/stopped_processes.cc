#include "evaluator/workers/stopped_processes.h"

#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace evo {

namespace fs = std::filesystem;

bool AnyStopped(pid_t group) {
  std::error_code ended;
  for (auto entry = fs::directory_iterator("/proc", ended); !ended && entry != fs::directory_iterator(); entry.increment(ended)) {
    if (!std::isdigit(static_cast<unsigned char>(entry->path().filename().native().front()))) continue;
    std::string text;
    std::getline(std::ifstream(entry->path() / "stat"), text);
    const std::size_t name_end = text.rfind(')');  // the name may hold anything
    if (name_end == std::string::npos) continue;
    std::istringstream fields(text.substr(name_end + 1));
    char state = 0;
    pid_t parent = 0, own_group = 0;
    if (fields >> state >> parent >> own_group && own_group == group && state == 'T') return true;
  }
  return false;
}

}  // namespace evo
