#include "evaluator/workers/device_roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "evaluator/workers/compile_role.h"
#include "evaluator/workers/run_role.h"
#include "evaluator/workers/waiting_jobs.h"

namespace evo {
namespace {

const DeviceKind& KindOf(const std::vector<DeviceKind>& kinds, const nlohmann::json& init) {
  const auto name = init.at("device").get<std::string>();
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const DeviceKind& one) { return one.kind == name; });
  if (found != kinds.end()) return *found;
  std::vector<std::string_view> names;
  for (const DeviceKind& one : kinds) names.push_back(one.kind);
  throw Error(fmt::format("unknown device '{}'; this evo-worker has: {}", name, fmt::join(names, ", ")));
}

}  // namespace

std::map<std::string, WorkerRoleFactory> DeviceRoles(std::vector<DeviceKind> kinds, GivenReference python) {
  const auto compile = [kinds](const nlohmann::json& init) -> std::unique_ptr<WorkerRole> {
    const DeviceKind& kind = KindOf(kinds, init);
    const bool checks = init.value("check", false) && kind.make_check_compiler;
    return std::make_unique<CompileRole>(kind.make_compiler(), checks ? kind.make_check_compiler() : nullptr,
                                         kind.compile_export);
  };
  const auto run = [kinds, python](const nlohmann::json& init) -> std::unique_ptr<WorkerRole> {
    const DeviceKind& kind = KindOf(kinds, init);
    const auto waiting = std::make_shared<WaitingJobsView>(init.at("waiting").get<std::string>());
    return std::make_unique<RunRole>(
        kind.make_device(init), [waiting] { return waiting->Any(); }, python ? std::move(*python) : nullptr);
  };
  return {{"compile", compile}, {"run", run}};
}

}  // namespace evo
