#include "cli/export_host.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "cli/export_host_text.h"
#include "cli/export_names.h"
#include "cli/export_sizes.h"
#include "cli/export_types.h"
#include "kernel_templates/directive_lexer.h"
#include "kernel_templates/launch_argument.h"
#include "kernel_templates/task_shape.h"

namespace evo {
namespace {

std::vector<std::string> Texts(const std::vector<Expression>& expressions) {
  std::vector<std::string> texts;
  for (const Expression& expression : expressions) texts.push_back(expression.text());
  return texts;
}

std::string Product(const std::vector<Expression>& factors) {
  return factors.empty() ? "1" : fmt::format("({})", fmt::join(Texts(factors), ") * ("));
}

// As a dim3.
std::string Extents(const std::vector<Expression>& values) {
  std::vector<std::string> casts;
  for (const std::string& text : Texts(values)) casts.push_back(fmt::format("static_cast<unsigned>({})", text));
  return fmt::format("dim3({})", fmt::join(casts, ", "));
}

// Includes the kernel's file with its kernels under names of their own. The headers that it includes come first: they must not
// see those macros.
std::string Inclusion(const KernelTemplate& exported, const ExportNames& names, const std::string& kernel_file) {
  std::string text;
  for (const SourceLine& line : SplitLines(exported.text)) {
    if (line.text.starts_with("#include <")) text += fmt::format("{}\n", line.text);
  }
  std::set<std::string> kernels;
  for (const Step& step : exported.steps) {
    // Without its namespaces.
    if (step.launch) kernels.insert(step.launch->kernel.substr(step.launch->kernel.rfind(':') + 1));
  }
  text +=
      "#include <cuda_runtime.h>\n\n#include <cmath>\n\n// So that another kernel of this name can be in the "
      "same program.\n";
  for (const std::string& kernel : kernels) text += fmt::format("#define {0} {0}{1}\n", kernel, names.suffix);
  text += fmt::format("#include \"{}\"\n", kernel_file);
  for (const std::string& kernel : kernels) text += fmt::format("#undef {}\n", kernel);
  return text;
}

class HostWriter {
 public:
  HostWriter(const KernelTemplate& exported, const Task& task, const std::vector<Case>& verified, const ExportNames& names)
      : exported_(exported), task_(task), verified_(verified), names_(names) {}

  std::string Function() {
    text_ = fmt::format("\nstatic cudaError_t {} {{\n", Signature(task_, names_, "run", true));
    for (const std::string& size : task_.size_names) Line("(void){};", size);
    text_ += RefuseOtherSizes(exported_);
    AddVerifiedSizes();
    for (const Argument& argument : task_.arguments) {
      if (argument.role == Role::kScalar) {
        Line("{0} {1} = static_cast<{0}>({2});\n  (void){1};", TypeName(argument.dtype), argument.name, argument.value->text());
      }
    }
    Line("cudaError_t {} = cudaSuccess;", names_.error);
    for (const Workspace& workspace : exported_.workspaces) {
      Line("void* {} = nullptr;", workspace.name);
      Line("if ({0} == cudaSuccess) {0} = cudaMallocAsync(&{1}, {2} * {3}, {4});", names_.error, workspace.name,
           Product(workspace.shape), ByteSize(workspace.dtype), names_.stream);
    }
    const std::set<std::string> swapped = Swapped();
    for (const std::string& name : swapped) {
      if (FindWorkspace(name) != nullptr) Line("void* const {0}_memory = {0};", name);
    }
    for (const TensorMapDirective& map : exported_.tensor_maps) AddMap(map);
    for (const ConstantDirective& constant : exported_.constants) AddConstant(constant);
    std::vector<const RepeatDirective*> loops;
    for (const Step& step : exported_.steps) {
      if (step.launch) AddLaunch(*step.launch);
      if (step.memset)
        Line("if ({0} == cudaSuccess) {0} = cudaMemsetAsync({1}, {2}, {3}, {4});", names_.error, step.memset->buffer,
             step.memset->value, BytesOf(step.memset->buffer), names_.stream);
      if (step.repeat) {
        Line("for (long long {0} = 0; {0} < ({1}); ++{0}) {{", step.repeat->step, step.repeat->count.text());
        loops.push_back(&*step.repeat);
        indent_ += "  ";
      }
      if (step.end) {
        for (const SwapDirective& swap : loops.back()->swaps)
          Line("{{ void* const {2} = {0}; {0} = {1}; {1} = {2}; }}", swap.first, swap.second, names_.kept);
        loops.pop_back();
        indent_.resize(indent_.size() - 2);
        Line("}}");
      }
    }
    for (const Workspace& workspace : exported_.workspaces)
      Line("if ({0} != nullptr) cudaFreeAsync({0}, {1});",
           swapped.contains(workspace.name) ? workspace.name + "_memory" : workspace.name, names_.stream);
    Line("return {};", names_.error);
    return text_ + "}\n";
  }

 private:
  void AddVerifiedSizes() {
    if (verified_.empty()) return;
    text_ += "#ifndef EVO_ANY_SIZE   // the kernel was shown right between these sizes only\n";
    for (const std::string& size : task_.size_names) {
      const auto less = [&](const Case& a, const Case& b) { return a.sizes.at(size) < b.sizes.at(size); };
      const auto [least, most] = std::minmax_element(verified_.begin(), verified_.end(), less);
      Line("if ({0} < {1} || {0} > {2}) return cudaErrorInvalidValue;", size, least->sizes.at(size), most->sizes.at(size));
    }
    text_ += "#endif\n";
  }

  template <class... Values>
  void Line(fmt::format_string<Values...> format, Values&&... values) {
    text_ += indent_ + fmt::format(format, std::forward<Values>(values)...) + "\n";
  }

  const Argument* Find(const std::string& name) const {
    const auto found =
        std::find_if(task_.arguments.begin(), task_.arguments.end(), [&](const Argument& a) { return a.name == name; });
    return found == task_.arguments.end() ? nullptr : &*found;
  }

  const Workspace* FindWorkspace(const std::string& name) const {
    const auto found = std::find_if(exported_.workspaces.begin(), exported_.workspaces.end(),
                                    [&](const Workspace& w) { return w.name == name; });
    return found == exported_.workspaces.end() ? nullptr : &*found;
  }

  Dtype DtypeOf(const std::string& buffer) const {
    if (const Workspace* workspace = FindWorkspace(buffer)) return workspace->dtype;
    const Argument* argument = Find(buffer);
    return argument != nullptr ? argument->dtype : Dtype::kU8;
  }

  std::string BytesOf(const std::string& buffer) const {
    const Workspace* workspace = FindWorkspace(buffer);
    const Argument* argument = Find(buffer);
    const std::string elements = workspace != nullptr  ? Product(workspace->shape)
                                 : argument != nullptr ? Product(argument->shape)
                                                       : "0";
    return fmt::format("{} * {}", elements, ByteSize(DtypeOf(buffer)));
  }

  void AddMap(const TensorMapDirective& map) {
    const Dtype dtype = map.dtype.value_or(DtypeOf(map.buffer));
    Line("const long long {}_dims[] = {{{}}};", map.name, fmt::join(Texts(map.dims), ", "));
    Line("const long long {}_box[] = {{{}}};", map.name, fmt::join(Texts(map.box), ", "));
    Line("const long long {}_swizzle = {};", map.name, map.swizzle.text());
    Line("CUtensorMap {};", map.name);
    Line("if ({} == cudaSuccess) {{", names_.error);
    Line("  {5} = {6}_host::make_map(&{0}, CU_TENSOR_MAP_DATA_TYPE_{1}, {2}, {3}, {4}, {0}_dims, {0}_box,", map.name,
         MapType(dtype), ByteSize(dtype), map.buffer, map.dims.size(), names_.error, names_.stem);
    Line("                   {0}_swizzle == 128 ? CU_TENSOR_MAP_SWIZZLE_128B : {0}_swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B",
         map.name);
    Line("                   : {0}_swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B : CU_TENSOR_MAP_SWIZZLE_NONE);", map.name);
    Line("}}");
  }

  // Buffers that exchange their names in loops.
  std::set<std::string> Swapped() const {
    std::set<std::string> names;
    for (const Step& step : exported_.steps) {
      if (!step.repeat) continue;
      for (const SwapDirective& swap : step.repeat->swaps) names.insert({swap.first, swap.second});
    }
    return names;
  }

  void AddConstant(const ConstantDirective& constant) {
    const Argument* argument = Find(constant.argument);
    if (argument == nullptr || argument->role == Role::kScalar) {
      Line("if ({2} == cudaSuccess) {2} = cudaMemcpyToSymbolAsync(::{0}, &{1}, sizeof({1}), 0, cudaMemcpyHostToDevice, {3});",
           constant.variable, constant.argument, names_.error, names_.stream);
      return;
    }
    Line("if ({} == cudaSuccess)", names_.error);
    Line("  {} = cudaMemcpyToSymbolAsync(::{}, {}, {}, 0, cudaMemcpyDeviceToDevice, {});", names_.error, constant.variable,
         constant.argument, BytesOf(constant.argument), names_.stream);
  }

  bool IsDeclared(const std::string& name) const {
    return Find(name) != nullptr || FindWorkspace(name) != nullptr ||
           std::any_of(exported_.tensor_maps.begin(), exported_.tensor_maps.end(),
                       [&](const TensorMapDirective& map) { return map.name == name; });
  }

  // The type and the value of an argument that is no name of a declared variable, or of a field of a struct.
  std::pair<std::string, std::string> TypedValue(const LaunchArgumentText& written) const {
    if (written.kind == LaunchArgumentText::Kind::kCast) {
      if (written.type.boolean) return {"bool", fmt::format("({}) != 0", written.text)};
      return {TypeName(written.type.dtype), fmt::format("static_cast<{}>({})", TypeName(written.type.dtype), written.text)};
    }
    const Argument* argument = Find(written.text);
    if (argument != nullptr && argument->role == Role::kScalar) return {TypeName(argument->dtype), written.text};
    if (argument != nullptr) return {argument->role == Role::kIn ? "const void*" : "void*", written.text};
    if (FindWorkspace(written.text) != nullptr) return {"void*", written.text};
    return {"int", fmt::format("static_cast<int>({})", written.text)};
  }

  // Declares a variable for an argument that is not one.
  void AddArgument(const std::string& argument, const std::string& variable) {
    const LaunchArgumentText written = ParseLaunchArgument(argument);
    if (written.kind != LaunchArgumentText::Kind::kStruct) {
      const auto [type, value] = TypedValue(written);
      Line("  {} {} = {};", type, variable, value);
      return;
    }
    std::string fields;
    std::vector<std::string> values;
    for (const LaunchArgumentText& field : written.fields) {
      const auto [type, value] = TypedValue(field);
      fields += fmt::format("{} field_{}; ", type, values.size());
      values.push_back(value);
    }
    Line("  struct {{ {}}} {} = {{{}}};", fields, variable, fmt::join(values, ", "));
  }

  void AddLaunch(const LaunchDirective& launch) {
    Line("if ({} == cudaSuccess{}) {{", names_.error, launch.when ? fmt::format(" && ({})", launch.when->text()) : std::string());
    std::vector<std::string> arguments;
    for (const std::string& argument : launch.arguments) {
      if (IsDeclared(argument)) {
        const Argument* named = Find(argument);
        const bool read_only = named != nullptr && named->role == Role::kIn;
        arguments.push_back(read_only ? fmt::format("const_cast<void**>(&{})", argument) : fmt::format("&{}", argument));
      } else {
        const std::string variable = fmt::format("argument_{}", arguments.size());
        AddArgument(argument, variable);
        arguments.push_back("&" + variable);
      }
    }
    Line("  void* {}[] = {{{}}};", names_.arguments, fmt::join(arguments, ", "));
    std::string kernel = launch.kernel_expression;
    kernel.replace(kernel.find(launch.kernel), launch.kernel.size(), launch.kernel + names_.suffix);
    Line("  {} = {}_host::launch(reinterpret_cast<const void*>(&::{}),", names_.error, names_.stem,
         WithCompiledSizes(std::move(kernel), exported_));
    Line("                 {}, {}, {}, {},", Extents(launch.grid), Extents(launch.block),
         launch.cluster.empty() ? "dim3(1)" : Extents(launch.cluster), launch.cooperative);
    Line("                 {}, {}, {});", launch.shared.text(), names_.arguments, names_.stream);
    Line("}}");
  }

  const KernelTemplate& exported_;
  const Task& task_;
  const std::vector<Case>& verified_;
  const ExportNames& names_;
  std::string text_;
  std::string indent_ = "  ";
};

}  // namespace

std::string ArchToCompileFor(const KernelTemplate& exported, const std::string& run_arch) {
  const std::string& required = exported.required_arch;
  return !required.empty() && (required.back() == 'a' || required.back() == 'f') ? required : run_arch;
}

std::string NvccTarget(const std::string& arch) {
  if (arch.starts_with("sm_") && (arch.back() == 'a' || arch.back() == 'f'))
    return fmt::format("-gencode arch=compute_{},code={}", arch.substr(3), arch);
  return "-arch=" + (arch.empty() ? "native" : arch);
}

std::string ExportHost(const KernelTemplate& exported, const Task& task, const std::string& kernel_file,
                       const std::string& run_arch, const std::vector<std::string>& verified_sizes) {
  std::vector<Case> verified;
  for (const std::string& sizes : verified_sizes) {
    if (auto one = FindCase(task, sizes)) verified.push_back(std::move(*one));
  }
  if (!verified.empty()) {
    verified.push_back(task.small);
    for (const auto* cases : {&task.search_cuda, &task.search_cpu, &task.held_out, &task.held_out_cpu})
      verified.insert(verified.end(), cases->begin(), cases->end());
  }
  std::string text = LaunchedSizes(exported, kernel_file, task.name);
  const ExportNames names = NamesOf(exported, task, kernel_file);
  text += fmt::format("// {}_host.h declares the function. Compile: nvcc -std=c++17 {} -c FILE\n", names.stem,
                      NvccTarget(ArchToCompileFor(exported, run_arch)));
  if (!exported.tensor_maps.empty()) text += "#include <cuda.h>\n";
  const std::string function = HostWriter(exported, task, verified, names).Function();
  text += fmt::format("{}\nnamespace {}_host {{\n{}{}{}{}",
                      Inclusion(exported, names, kernel_file) + CompiledSizeConstants(exported, task), names.stem, kHead,
                      function.find("power(") != std::string::npos ? kPower : "",
                      function.find("ceil_log(") != std::string::npos ? kCeilLog : "", kLaunch);
  if (!exported.tensor_maps.empty()) text += kMap;
  return text + function +
         fmt::format("\n}}  // namespace {0}_host\n\ncudaError_t {1} {{\n  return {0}_host::{2};\n}}\n", names.stem,
                     Signature(task, names, names.stem + "_launch", true), Signature(task, names, "run", false));
}

std::string ExportHeader(const KernelTemplate& exported, const Task& task, const std::string& kernel_file) {
  const ExportNames names = NamesOf(exported, task, kernel_file);
  return fmt::format(
      "// Launches {} of the task {}. Buffers are device pointers; sizes are in elements, as the task names them.\n#pragma "
      "once\n\n"
      "#include <cuda_runtime_api.h>\n\ncudaError_t {};\n",
      kernel_file, task.name, Signature(task, names, names.stem + "_launch", true));
}

}  // namespace evo
