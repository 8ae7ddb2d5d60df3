#include "evaluator/workers/worker_identity.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/json_error.h"
#include "core/record_json.h"

namespace evo {
namespace {

std::string HostName() {
  if (const char* node = std::getenv("SLURMD_NODENAME")) return node;
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "a host without a name";
}

// The first thing that differs, as each has it; empty if nothing does.
std::array<std::string, 3> FirstDifference(const WorkerIdentity& a, const WorkerIdentity& b) {
  const auto gib = [](std::size_t bytes) { return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1UL << 30)); };
  const auto mib = [](std::size_t bytes) { return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1UL << 20)); };
  const DeviceInfo& x = a.device;
  const DeviceInfo& y = b.device;
  if (x.name != y.name) return {"device", x.name, y.name};
  if (x.arch != y.arch) return {"architecture", x.arch, y.arch};
  if (x.memory_bytes != y.memory_bytes) return {"memory", gib(x.memory_bytes), gib(y.memory_bytes)};
  if (x.l2_bytes != y.l2_bytes) return {"L2 cache", mib(x.l2_bytes), mib(y.l2_bytes)};
  if (x.driver != y.driver) return {"driver", x.driver, y.driver};
  if (a.build != b.build) return {"build of evo", a.build, b.build};
  return {};
}

}  // namespace

WorkerIdentity IdentityIn(const nlohmann::json& ready) {
  try {
    return {ready.value("host", ""), ready.value("build", ""), ready.at("device").get<DeviceInfo>()};
  } catch (const nlohmann::json::exception& error) {
    throw Error(
        fmt::format("the run worker does not say what its device is ({}); is evo-worker of another version?", PlainText(error)));
  }
}

nlohmann::json Introduction(const std::string& version) {
  std::error_code unknown;
  const auto bytes = std::filesystem::file_size("/proc/self/exe", unknown);
  return {{"host", HostName()}, {"build", fmt::format("{} ({} bytes)", version, unknown ? 0 : bytes)}};
}

void RequireAlike(const std::vector<WorkerIdentity>& workers, bool mixed) {
  if (mixed) return;
  for (const WorkerIdentity& worker : workers) {
    const auto [what, first, other] = FirstDifference(workers.front(), worker);
    if (what.empty()) continue;
    throw UsageError(fmt::format(
        "the machines differ: {} has the {} {}, {} has {}; times from them do not compare: take hosts of one kind, or "
        "give --allow-mixed",
        workers.front().host, what, first, worker.host, other));
  }
}

void RequireApart(const std::vector<WorkerIdentity>& workers) {
  std::map<std::string, std::string> host_of;
  for (const WorkerIdentity& worker : workers) {
    if (worker.device.uuid.empty()) continue;
    const auto [known, fresh] = host_of.emplace(worker.device.uuid, worker.host);
    if (fresh) continue;
    throw UsageError(fmt::format(
        "two run workers have the same GPU, {} on {}{}: each would spoil the other's times; give each one "
        "of its own (`srun --exact --gpus=1`)",
        worker.device.uuid, known->second, known->second == worker.host ? "" : fmt::format(", also called {}", worker.host)));
  }
}

}  // namespace evo
