#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "evaluator/device/device.h"

namespace evo {

// What a run worker says of itself in its first message.
struct WorkerIdentity {
  std::string host;   // of a Slurm node, the name that Slurm knows
  std::string build;  // of evo-worker
  DeviceInfo device;
};

// Throws Error if the message does not say it, as that of another version.
WorkerIdentity IdentityIn(const nlohmann::json& ready);

// What a worker adds to its first message: "host" and "build". `version`: of evo.
nlohmann::json Introduction(const std::string& version);

// Run workers of one run must be of one kind: device, architecture, memory, L2, driver and build of evo. Throws UsageError that
// names both hosts and what differs. `mixed`: they may differ.
void RequireAlike(const std::vector<WorkerIdentity>& workers, bool mixed);
// Each GPU has one run worker. Throws UsageError.
void RequireApart(const std::vector<WorkerIdentity>& workers);

}  // namespace evo
