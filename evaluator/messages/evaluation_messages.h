#pragma once

#include <nlohmann/json.hpp>

#include "core/evaluation.h"
#include "core/evaluator.h"
#include "core/machine.h"
#include "evaluator/compiler/compiler.h"
#include "evaluator/device/device.h"
#include "evaluator/workers/protocol.h"

namespace evo {

// What travels between coordinator and workers, as JSON. Not-a-number is null. from_json throws nlohmann::json::exception for a
// field that is missing or of the wrong type, ProtocolError for an unknown name.
void to_json(nlohmann::json& out, const KernelFacts& facts);
void from_json(const nlohmann::json& in, KernelFacts& facts);
void to_json(nlohmann::json& out, const CaseMeasurement& measured);
void from_json(const nlohmann::json& in, CaseMeasurement& measured);
void to_json(nlohmann::json& out, const Evaluation& evaluation);
void from_json(const nlohmann::json& in, Evaluation& evaluation);
void to_json(nlohmann::json& out, const MachineState& machine);
void from_json(const nlohmann::json& in, MachineState& machine);
void to_json(nlohmann::json& out, const ToolResult& result);
void from_json(const nlohmann::json& in, ToolResult& result);
void to_json(nlohmann::json& out, const ChampionCheck& check);
void from_json(const nlohmann::json& in, ChampionCheck& check);

// A device as a run worker describes it.
void to_json(nlohmann::json& out, const DeviceInfo& info);
void from_json(const nlohmann::json& in, DeviceInfo& info);

// A source with its compiled image, but without the PTX, which nobody runs: `header[key]` and a body.
void AttachProgram(Message& message, const std::string& key, const std::string& source, const CompiledProgram& program);
struct AttachedProgram {
  std::string source;
  CompiledProgram program;
};
AttachedProgram DetachProgram(const Message& message, const std::string& key);

Message ToMessage(const CompileResult& result);
CompileResult ToCompileResult(const Message& message);

}  // namespace evo
