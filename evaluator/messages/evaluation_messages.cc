#include "evaluator/messages/evaluation_messages.h"

#include <cmath>

namespace evo {
namespace {

using nlohmann::json;

json OrNull(double value) { return std::isnan(value) ? json() : json(value); }

void Get(const json& in, const char* key, double& value) {
  const json& field = in.at(key);
  value = field.is_null() ? kNoValue : field.get<double>();
}

Outcome GetOutcome(const json& in) {
  const auto outcome = ParseOutcome(in.at("outcome").get<std::string>());
  if (!outcome) throw ProtocolError("unknown outcome " + in.at("outcome").dump());
  return *outcome;
}

}  // namespace

void to_json(json& out, const KernelFacts& facts) {
  out = {{"registers", facts.registers},
         {"static_shared_bytes", facts.static_shared_bytes},
         {"dynamic_shared_bytes", facts.dynamic_shared_bytes},
         {"spill_bytes", facts.spill_bytes},
         {"local_bytes", facts.local_bytes},
         {"occupancy", OrNull(facts.occupancy)}};
}

void from_json(const json& in, KernelFacts& facts) {
  in.at("registers").get_to(facts.registers);
  in.at("static_shared_bytes").get_to(facts.static_shared_bytes);
  in.at("dynamic_shared_bytes").get_to(facts.dynamic_shared_bytes);
  in.at("spill_bytes").get_to(facts.spill_bytes);
  in.at("local_bytes").get_to(facts.local_bytes);
  Get(in, "occupancy", facts.occupancy);
}

void to_json(json& out, const CaseMeasurement& m) {
  out = {{"name", m.name},
         {"weight", m.weight},
         {"median_ns", OrNull(m.median_ns)},
         {"p10_ns", OrNull(m.p10_ns)},
         {"p90_ns", OrNull(m.p90_ns)},
         {"busy_ns", OrNull(m.busy_ns)},
         {"wall_ns", OrNull(m.wall_ns)},
         {"tick_ns", m.tick_ns},
         {"samples", m.samples},
         {"discarded", m.discarded},
         {"outliers", m.outliers},
         {"sm_low_mhz", m.sm_low_mhz},
         {"sm_high_mhz", m.sm_high_mhz},
         {"throttle_reason", m.throttle_reason},
         {"launches", m.launches},
         {"bytes", OrNull(m.bytes)},
         {"operations", OrNull(m.operations)},
         {"pruned", m.pruned},
         {"max_error", OrNull(m.max_error)},
         {"l2_error", OrNull(m.l2_error)}};
}

void from_json(const json& in, CaseMeasurement& m) {
  in.at("name").get_to(m.name);
  in.at("weight").get_to(m.weight);
  Get(in, "median_ns", m.median_ns);
  Get(in, "p10_ns", m.p10_ns);
  Get(in, "p90_ns", m.p90_ns);
  Get(in, "busy_ns", m.busy_ns);
  Get(in, "wall_ns", m.wall_ns);
  in.at("tick_ns").get_to(m.tick_ns);
  in.at("samples").get_to(m.samples);
  in.at("discarded").get_to(m.discarded);
  in.at("outliers").get_to(m.outliers);
  in.at("sm_low_mhz").get_to(m.sm_low_mhz);
  in.at("sm_high_mhz").get_to(m.sm_high_mhz);
  in.at("throttle_reason").get_to(m.throttle_reason);
  in.at("launches").get_to(m.launches);
  Get(in, "bytes", m.bytes);
  Get(in, "operations", m.operations);
  in.at("pruned").get_to(m.pruned);
  Get(in, "max_error", m.max_error);
  Get(in, "l2_error", m.l2_error);
}

void to_json(json& out, const Evaluation& e) {
  out = {{"outcome", ToString(e.outcome)},
         {"stage", ToString(e.stage)},
         {"message", e.message},
         {"log", e.log},
         {"score_ns", OrNull(e.score_ns)},
         {"cases", e.cases},
         {"facts", e.facts},
         {"clocks",
          {{"compile_ms", e.clocks.compile_ms},
           {"load_ms", e.clocks.load_ms},
           {"check_ms", e.clocks.check_ms},
           {"time_ms", e.clocks.time_ms},
           {"reverification_ms", e.clocks.reverification_ms},
           {"queue_ms", e.clocks.queue_ms}}},
         {"reverification_runs", e.reverification_runs},
         {"device", e.device},
         {"device_name", e.device_name},
         {"l2", e.l2},
         {"image_digest", e.image_digest},
         {"source_digest", e.source_digest},
         {"counterexample",
          {{"case", e.counterexample.case_name}, {"generator", e.counterexample.generator}, {"seed", e.counterexample.seed}}}};
}

void from_json(const json& in, Evaluation& e) {
  e.outcome = GetOutcome(in);
  const auto stage = ParseStage(in.at("stage").get<std::string>());
  if (!stage) throw ProtocolError("unknown stage " + in.at("stage").dump());
  e.stage = *stage;
  in.at("message").get_to(e.message);
  in.at("log").get_to(e.log);
  Get(in, "score_ns", e.score_ns);
  in.at("cases").get_to(e.cases);
  in.at("facts").get_to(e.facts);
  const json& clocks = in.at("clocks");
  clocks.at("compile_ms").get_to(e.clocks.compile_ms);
  clocks.at("load_ms").get_to(e.clocks.load_ms);
  clocks.at("check_ms").get_to(e.clocks.check_ms);
  clocks.at("time_ms").get_to(e.clocks.time_ms);
  clocks.at("reverification_ms").get_to(e.clocks.reverification_ms);
  clocks.at("queue_ms").get_to(e.clocks.queue_ms);
  in.at("reverification_runs").get_to(e.reverification_runs);
  in.at("device").get_to(e.device);
  in.at("device_name").get_to(e.device_name);
  in.at("l2").get_to(e.l2);
  in.at("image_digest").get_to(e.image_digest);
  in.at("source_digest").get_to(e.source_digest);
  const json& counterexample = in.at("counterexample");
  counterexample.at("case").get_to(e.counterexample.case_name);
  counterexample.at("generator").get_to(e.counterexample.generator);
  counterexample.at("seed").get_to(e.counterexample.seed);
}

void to_json(json& out, const DeviceInfo& info) {
  out = {{"kind", info.kind},
         {"name", info.name},
         {"arch", info.arch},
         {"ordinal", info.ordinal},
         {"memory_bytes", info.memory_bytes},
         {"l2_bytes", info.l2_bytes},
         {"shared_bytes_per_block", info.shared_bytes_per_block},
         {"shared_bytes_per_block_optin", info.shared_bytes_per_block_optin},
         {"max_threads_per_block", info.max_threads_per_block},
         {"multiprocessors", info.multiprocessors},
         {"tick_ns", info.tick_ns},
         {"driver", info.driver}};
}

void from_json(const json& in, DeviceInfo& info) {
  in.at("kind").get_to(info.kind);
  in.at("name").get_to(info.name);
  in.at("arch").get_to(info.arch);
  in.at("ordinal").get_to(info.ordinal);
  in.at("memory_bytes").get_to(info.memory_bytes);
  in.at("l2_bytes").get_to(info.l2_bytes);
  in.at("shared_bytes_per_block").get_to(info.shared_bytes_per_block);
  in.at("shared_bytes_per_block_optin").get_to(info.shared_bytes_per_block_optin);
  in.at("max_threads_per_block").get_to(info.max_threads_per_block);
  in.at("multiprocessors").get_to(info.multiprocessors);
  in.at("tick_ns").get_to(info.tick_ns);
  in.at("driver").get_to(info.driver);
}

void to_json(json& out, const MachineState& m) {
  out = {{"moment", m.moment},
         {"ordinal", m.ordinal},
         {"launch_ns", OrNull(m.launch_ns)},
         {"control_ratio", OrNull(m.control_ratio)},
         {"dram_bytes_per_s", OrNull(m.dram_bytes_per_s)},
         {"l2_bytes_per_s", OrNull(m.l2_bytes_per_s)},
         {"f32_per_s", OrNull(m.f32_per_s)},
         {"tensor_per_s", OrNull(m.tensor_per_s)},
         {"l2_bytes", m.l2_bytes},
         {"sm_mhz", m.clocks.sm_mhz},
         {"sm_max_mhz", m.clocks.sm_max_mhz},
         {"memory_mhz", m.clocks.memory_mhz},
         {"temperature_c", m.clocks.temperature_c},
         {"power_w", OrNull(m.clocks.power_w)},
         {"throttle_reason", m.clocks.throttle_reason},
         {"disturbed", m.clocks.disturbed}};
}

void from_json(const json& in, MachineState& m) {
  in.at("moment").get_to(m.moment);
  in.at("ordinal").get_to(m.ordinal);
  Get(in, "launch_ns", m.launch_ns);
  Get(in, "control_ratio", m.control_ratio);
  Get(in, "dram_bytes_per_s", m.dram_bytes_per_s);
  Get(in, "l2_bytes_per_s", m.l2_bytes_per_s);
  Get(in, "f32_per_s", m.f32_per_s);
  Get(in, "tensor_per_s", m.tensor_per_s);
  in.at("l2_bytes").get_to(m.l2_bytes);
  in.at("sm_mhz").get_to(m.clocks.sm_mhz);
  in.at("sm_max_mhz").get_to(m.clocks.sm_max_mhz);
  in.at("memory_mhz").get_to(m.clocks.memory_mhz);
  in.at("temperature_c").get_to(m.clocks.temperature_c);
  Get(in, "power_w", m.clocks.power_w);
  in.at("throttle_reason").get_to(m.clocks.throttle_reason);
  in.at("disturbed").get_to(m.clocks.disturbed);
}

void to_json(json& out, const ToolResult& result) {
  out = {{"tool", result.tool}, {"result", result.result}, {"message", result.message}};
}

void from_json(const json& in, ToolResult& result) {
  in.at("tool").get_to(result.tool);
  in.at("result").get_to(result.result);
  in.at("message").get_to(result.message);
}

void to_json(json& out, const ChampionCheck& check) {
  out = {{"outcome", ToString(check.outcome)},
         {"message", check.message},
         {"candidate", check.candidate},
         {"baseline", check.baseline},
         {"candidate_ns", OrNull(check.candidate_ns)},
         {"baseline_ns", OrNull(check.baseline_ns)},
         {"speedup", OrNull(check.speedup)},
         {"held_out_cases", check.held_out_cases},
         {"tools", check.tools},
         {"slowest_ratio", OrNull(check.slowest.ratio)},
         {"slowest_inputs", check.slowest.inputs}};
}

void from_json(const json& in, ChampionCheck& check) {
  check.outcome = GetOutcome(in);
  in.at("message").get_to(check.message);
  in.at("candidate").get_to(check.candidate);
  in.at("baseline").get_to(check.baseline);
  Get(in, "candidate_ns", check.candidate_ns);
  Get(in, "baseline_ns", check.baseline_ns);
  Get(in, "speedup", check.speedup);
  in.at("held_out_cases").get_to(check.held_out_cases);
  in.at("tools").get_to(check.tools);
  Get(in, "slowest_ratio", check.slowest.ratio);
  in.at("slowest_inputs").get_to(check.slowest.inputs);
}

void AttachProgram(Message& message, const std::string& key, const std::string& source, const CompiledProgram& program) {
  json kernels = json::array();
  for (const CompiledKernel& kernel : program.kernels)
    kernels.push_back({{"expression", kernel.expression}, {"symbol", kernel.symbol}});
  message.header[key] = {
      {"source", source}, {"kernels", kernels}, {"variables", program.variables}, {"body", message.bodies.size()}};
  message.bodies.push_back(program.image);
}

AttachedProgram DetachProgram(const Message& message, const std::string& key) {
  const json& in = message.header.at(key);
  AttachedProgram attached;
  in.at("source").get_to(attached.source);
  for (const json& kernel : in.at("kernels")) {
    attached.program.kernels.push_back({kernel.at("expression").get<std::string>(), kernel.at("symbol").get<std::string>()});
  }
  in.at("variables").get_to(attached.program.variables);
  const auto body = in.at("body").get<std::size_t>();
  if (body >= message.bodies.size()) throw ProtocolError("a program without its image");
  attached.program.image = message.bodies[body];
  return attached;
}

Message ToMessage(const CompileResult& result) {
  Message message;
  message.header = {{"outcome", ToString(result.outcome)},
                    {"message", result.message},
                    {"log", result.log},
                    {"facts", result.facts},
                    {"program_digest", result.program_digest}};
  AttachProgram(message, "program", "", result.program);
  AttachProgram(message, "checked", "", result.checked);
  return message;
}

CompileResult ToCompileResult(const Message& message) {
  CompileResult result;
  result.outcome = GetOutcome(message.header);
  message.header.at("message").get_to(result.message);
  message.header.at("log").get_to(result.log);
  message.header.at("facts").get_to(result.facts);
  message.header.at("program_digest").get_to(result.program_digest);
  result.program = DetachProgram(message, "program").program;
  result.checked = DetachProgram(message, "checked").program;
  return result;
}

}  // namespace evo
