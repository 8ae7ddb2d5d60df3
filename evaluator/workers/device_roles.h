#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "evaluator/compiler/compiler.h"
#include "evaluator/device/device.h"
#include "evaluator/messages/requests.h"
#include "evaluator/reference/reference.h"
#include "evaluator/workers/worker_main.h"

namespace evo {

// How a worker process makes devices of one kind and compiles for them. Each function may throw Error.
struct DeviceKind {
  std::string_view kind;  // DevicePolicy::kind
  std::function<std::unique_ptr<Compiler>()> make_compiler;
  // For a device that runs no CUDA: a compiler that tells whether a source is valid CUDA. Otherwise empty.
  std::function<std::unique_ptr<Compiler>()> make_check_compiler;
  std::function<CompileResult(const ExportRequest&)> compile_export;  // CompileRole::ExportCompiler; may be empty
  std::function<std::unique_ptr<Device>(const nlohmann::json& init)> make_device;
};

// A Python reference that was started before its worker was confined. The role "run" that is made next takes it.
using GivenReference = std::shared_ptr<std::unique_ptr<Reference>>;

// The roles "compile" and "run" for these kinds. A role is refused, with an Error that names the kinds, where the "device" of its
// init message is none of them. `python` may be null.
std::map<std::string, WorkerRoleFactory> DeviceRoles(std::vector<DeviceKind> kinds, GivenReference python = nullptr);

}  // namespace evo
