#include "cli/export_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <set>
#include <vector>

namespace evo {
namespace {

std::set<std::string> NamesOfTheUser(const KernelTemplate& exported, const Task& task) {
  std::set<std::string> names(task.size_names.begin(), task.size_names.end());
  for (const Argument& argument : task.arguments) names.insert(argument.name);
  for (const Workspace& workspace : exported.workspaces) names.insert(workspace.name);
  for (const TensorMapDirective& map : exported.tensor_maps) names.insert(map.name);
  for (const SizeMacro& macro : exported.size_macros) names.insert(macro.name);
  for (const Step& step : exported.steps) {
    if (step.repeat) names.insert(step.repeat->step);
  }
  return names;
}

}  // namespace

ExportNames NamesOf(const KernelTemplate& exported, const Task& task, const std::string& kernel_file) {
  constexpr std::size_t kDigits = 8;
  ExportNames names{kernel_file.substr(0, kernel_file.rfind('.')), "_evo_" + exported.digest.substr(0, kDigits)};
  const std::set<std::string> taken = NamesOfTheUser(exported, task);
  for (std::string* own : {&names.error, &names.stream, &names.arguments, &names.kept}) {
    while (taken.contains(*own)) *own += '_';
  }
  for (char& c : names.stem) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  if (names.stem.empty() || std::isdigit(static_cast<unsigned char>(names.stem.front())) != 0) names.stem.insert(0, "kernel_");
  return names;
}

std::string Signature(const Task& task, const ExportNames& names, const std::string& name, bool types) {
  std::vector<std::string> parameters;
  for (const Argument& argument : task.arguments) {
    if (argument.role == Role::kScalar) continue;
    const char* type = !types ? "" : argument.role == Role::kIn ? "const void* " : "void* ";
    parameters.push_back(type + argument.name);
  }
  for (const std::string& size : task.size_names) parameters.push_back((types ? "long long " : "") + size);
  parameters.push_back((types ? "cudaStream_t " : "") + names.stream);
  return fmt::format("{}({})", name, fmt::join(parameters, ", "));
}

}  // namespace evo
