#include "import/separate_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "import/element_type.h"
#include "import/kernel_use.h"

namespace evo {
namespace {

constexpr int kMostOuterCalls = 12;  // of functions that call one another

// Whether the host makes a call in the loop, perhaps by way of other functions.
bool IsMadeIn(const SourceProgram& program, const HostCode& host, const HostLoop& loop, const HostCall& call) {
  const HostCall* at = &call;
  for (int depth = 0; depth < kMostOuterCalls && at != nullptr && at->function >= 0; ++depth) {
    if (at->function == loop.function) return loop.body.Contains(at->range);
    const std::string& name = program.functions()[static_cast<std::size_t>(at->function)].name;
    const auto outer = std::find_if(host.calls().begin(), host.calls().end(),
                                    [&](const HostCall& one) { return one.name == name && one.function != at->function; });
    at = outer == host.calls().end() ? nullptr : &*outer;
  }
  return false;
}

// Whether each iteration is a run of its own: what the kernels write they do not read, and the host copies some of it in the
// loop.
bool IsCopiedEachTime(const SourceProgram& program, const HostCode& host, const HostLoop& loop) {
  std::vector<HostCode::Pointer> read, written;
  for (const HostLaunch& launch : host.launches()) {
    if (!IsMadeIn(program, host, loop, launch)) continue;
    const int kernel = program.FindFunction(launch.name);
    if (kernel < 0) return false;
    const ProgramFunction& called = program.functions()[static_cast<std::size_t>(kernel)];
    const KernelUse use = UseOf(program, called);
    for (std::size_t i = 0; i < std::min(called.parameters.size(), launch.arguments.size()); ++i) {
      const auto found = use.parameters.find(called.parameters[i].name);
      if (!IsPointerType(called.parameters[i].type) || IsNullWord(program.Text(launch.arguments[i]))) continue;
      if (found == use.parameters.end() || found->second.partial) return false;
      const HostCode::Pointer pointer = host.Origin(launch.arguments[i], launch.function);
      if (pointer.name.empty() || pointer.offset) return false;
      if (found->second.read || !found->second.written) read.push_back(pointer);
      if (found->second.written) written.push_back(pointer);
    }
  }
  const auto is_read = [&](const HostCode::Pointer& one) { return std::find(read.begin(), read.end(), one) != read.end(); };
  if (std::any_of(written.begin(), written.end(), is_read)) return false;
  return std::any_of(host.calls().begin(), host.calls().end(), [&](const HostCall& call) {
    const SourceRange* const source = call.name.starts_with("cudaMemcpy") ? SourceOfCopy(call) : nullptr;
    if (source == nullptr || !loop.body.Contains(call.range) ||
        program.Text(call.range).find("DeviceToHost") == std::string_view::npos)
      return false;
    return std::find(written.begin(), written.end(), host.Origin(*source, call.function)) != written.end();
  });
}

}  // namespace

bool RunsSeparately(const SourceProgram& program, const HostCode& host, const HostLoop& loop) {
  if (IsCopiedEachTime(program, host, loop)) return true;
  bool any = false;
  for (const HostLaunch& launch : host.launches()) {
    if (!IsMadeIn(program, host, loop, launch)) continue;
    const int kernel = program.FindFunction(launch.name);
    if (kernel < 0) continue;  // of another file: it is in no task
    const auto& parameters = program.functions()[static_cast<std::size_t>(kernel)].parameters;
    for (std::size_t i = 0; i < std::min(parameters.size(), launch.arguments.size()); ++i) {
      const bool pointer = IsPointerType(parameters[i].type);
      if (!pointer && !FieldsOf(program, PointedType(parameters[i].type)).empty()) return false;
      const std::string_view text = program.Text(launch.arguments[i]);
      if (!pointer || IsNullWord(text)) continue;
      const auto allocations = host.CallsOn(host.Origin(launch.arguments[i], launch.function), "cudaMalloc");
      const auto is_inside = [&](const HostCall* one) { return IsMadeIn(program, host, loop, *one); };
      if (allocations.empty() || !std::all_of(allocations.begin(), allocations.end(), is_inside)) return false;
      any = true;
    }
  }
  return any;
}

void RefuseCopies(const SourceProgram& program, const HostCode& host, const HostLoop& loop) {
  for (const HostCall& call : host.calls()) {
    if (!call.name.starts_with("cudaMemcpy") || call.arguments.size() < 4 || !loop.body.Contains(call.range) ||
        program.Text(call.arguments[3]) != "cudaMemcpyDeviceToDevice")
      continue;
    throw UsageError(
        fmt::format("{}: a copy from {} to {} in the loop around the launches is not understood; exchange the "
                    "pointers, or name one kernel with --kernel",
                    program.PlaceOf(call.range.begin), program.Text(call.arguments[1]), program.Text(call.arguments[0])));
  }
}

std::vector<HostLoop> TakeSeparate(const SourceProgram& program, const HostCode& host, std::vector<HostLoop>& loops) {
  const auto separate = std::stable_partition(loops.begin(), loops.end(),
                                              [&](const HostLoop& loop) { return !RunsSeparately(program, host, loop); });
  std::vector<HostLoop> taken(separate, loops.end());
  loops.erase(separate, loops.end());
  return taken;
}

std::optional<Number> LastOf(const std::vector<HostLoop>& separate, const SourceProgram& program,
                             const ProgramVariable& variable) {
  constexpr int kMostIterations = 1000;
  const std::uint32_t declared = program.tree().node(variable.node).range.begin;
  for (const HostLoop& loop : separate) {
    const LoopVariable* const counter = loop.function == variable.function ? loop.Find(variable.name) : nullptr;
    if (counter == nullptr || !counter->initial || !loop.range.Contains(*counter->initial) || declared < loop.range.begin ||
        declared >= loop.body.begin)
      continue;
    const HostExpression condition = ParseHostExpression(loop.condition);
    auto value = ValueOf(ParseHostExpression(program.Tokens(*counter->initial)), {});
    for (int i = 0; value && i < kMostIterations; ++i) {
      const auto next = ValueOf(counter->next, {{variable.name, *value}});
      const auto goes_on = next ? ValueOf(condition, {{variable.name, *next}}) : std::nullopt;
      if (!goes_on || goes_on->AsReal() == 0) break;
      value = next;
    }
    return value;
  }
  return std::nullopt;
}

}  // namespace evo
