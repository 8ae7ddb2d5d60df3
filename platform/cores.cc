#include "platform/cores.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

namespace evo {
namespace {

namespace fs = std::filesystem;

// The quota of one control group (cgroup v2), in cores; infinity if there is none.
double Quota(const fs::path& group) {
  std::ifstream file(group / "cpu.max");
  double quota = 0;
  double period = 0;
  if (!(file >> quota >> period) || quota <= 0 || period <= 0) return std::numeric_limits<double>::infinity();  // "max 100000"
  return quota / period;
}

// The least quota of the process's control group and those that contain it.
double LeastQuota() {
  const fs::path root = "/sys/fs/cgroup";
  std::ifstream groups("/proc/self/cgroup");
  std::string line;
  double least = Quota(root);  // a container sees its own group here
  while (std::getline(groups, line)) {
    if (!line.starts_with("0::/")) continue;
    for (fs::path group = line.substr(4); !group.empty(); group = group.parent_path())
      least = std::min(least, Quota(root / group));
  }
  return least;
}

}  // namespace

int AvailableCores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const bool known = ::sched_getaffinity(0, sizeof(allowed), &allowed) == 0;
  const double cores = known ? CPU_COUNT(&allowed) : static_cast<double>(std::thread::hardware_concurrency());
  return static_cast<int>(std::max(1.0, std::min(cores, std::ceil(LeastQuota()))));
}

}  // namespace evo
