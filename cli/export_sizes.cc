#include "cli/export_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

namespace evo {
namespace {

std::string Constant(const SizeMacro& macro) { return "compiled_" + macro.name; }

}  // namespace

std::string CompiledSizeConstants(const KernelTemplate& exported, const Task& task) {
  std::string text;
  for (const SizeMacro& macro : exported.size_macros) {
    text += fmt::format("[[maybe_unused]] static constexpr long long {} = {};\n", Constant(macro), macro.name);
    if (std::find(task.size_names.begin(), task.size_names.end(), macro.name) != task.size_names.end())
      text += fmt::format("#undef {}\n", macro.name);
  }
  return text.empty() ? text : "\n// Sizes that are compiled in.\n" + text;
}

std::string WithCompiledSizes(std::string kernel_expression, const KernelTemplate& exported) {
  for (const SizeMacro& macro : exported.size_macros)
    kernel_expression = std::regex_replace(kernel_expression, std::regex("\\b" + macro.name + "\\b"), Constant(macro));
  return kernel_expression;
}

std::string RefuseOtherSizes(const KernelTemplate& exported) {
  std::string text;
  for (const SizeMacro& macro : exported.size_macros)
    text += fmt::format("  if ({} != ({})) return cudaErrorInvalidValue;\n", Constant(macro), macro.value.text());
  return text;
}

std::string LaunchedSizes(const KernelTemplate& exported, const std::string& kernel_file, const std::string& task) {
  const char* const which = exported.size_macros.empty() ? "any sizes that it takes" : "the sizes that are compiled in";
  std::string text =
      fmt::format("// Launches {}, for {}. Buffers are device pointers in the order of the task {}, sizes follow.\n", kernel_file,
                  which, task);
  for (const SizeMacro& macro : exported.size_macros)
    text += fmt::format("// Where {} is not {}, it returns cudaErrorInvalidValue.\n", macro.value.text(), macro.name);
  return text;
}

std::string DescribeCompiledSizes(const std::vector<SizeMacro>& macros, const std::string& here) {
  std::string meanings;
  std::string options;
  for (const SizeMacro& macro : macros) {
    meanings += fmt::format("{}{} = {}", meanings.empty() ? "" : ", ", macro.name, macro.value.text());
    options += fmt::format(" -D{}=..", macro.name);
  }
  if (macros.empty()) return "";
  return fmt::format("Sizes are compiled in: {}. {}; at other sizes this kernel is wrong. Compile it for those with{}", meanings,
                     here, options);
}

std::string SizeOptions(const std::vector<SizeMacro>& macros, const Case& sizes) {
  std::string options;
  for (const auto& [name, value] : ValuesFor(macros, sizes.sizes)) options += fmt::format(" -D{}={}", name, value);
  return options;
}

}  // namespace evo
