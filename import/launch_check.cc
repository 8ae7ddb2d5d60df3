#include "import/launch_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <vector>

#include "core/error.h"
#include "import/parameter_type.h"
#include "kernel_templates/directive_lexer.h"
#include "kernel_templates/launch_argument.h"
#include "kernel_templates/launch_line.h"

namespace evo {
namespace {

using ArgumentKind = LaunchArgumentText::Kind;

// What a name in a launch line stands for.
struct Passed {
  enum class What { kBuffer, kScalar, kMap, kStruct };
  What what = What::kScalar;
  ScalarType type;
};

const Argument* FindArgument(const Task& task, std::string_view name) {
  const auto found =
      std::find_if(task.arguments.begin(), task.arguments.end(), [&](const Argument& one) { return one.name == name; });
  return found == task.arguments.end() ? nullptr : &*found;
}

// `argument` is not a struct.
Passed WhatIsPassed(const KernelTemplate& one, const Task& task, const LaunchArgumentText& argument) {
  if (argument.kind == ArgumentKind::kCast) return {Passed::What::kScalar, argument.type};
  if (argument.kind != ArgumentKind::kName) return {};
  for (const TensorMapDirective& map : one.tensor_maps) {
    if (map.name == argument.text) return {Passed::What::kMap, {}};
  }
  for (const Workspace& workspace : one.workspaces) {
    if (workspace.name == argument.text) return {Passed::What::kBuffer, {workspace.dtype, false}};
  }
  const Argument* found = FindArgument(task, argument.text);
  if (found == nullptr) return {};
  return {found->role == Role::kScalar ? Passed::What::kScalar : Passed::What::kBuffer, {found->dtype, false}};
}

std::string Joined(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

// Compares the directives with the names that they may use.
class NameChecker {
 public:
  NameChecker(const KernelTemplate& one, const Task& task) : one_(one), task_(task) {
    values_.insert(task.size_names.begin(), task.size_names.end());
    for (const Argument& argument : task.arguments) (argument.role == Role::kScalar ? values_ : buffers_).insert(argument.name);
    for (const Parameter& parameter : one.space.parameters) values_.insert(parameter.name);
    for (const SizeMacro& macro : one.size_macros) values_.insert(macro.name);
    for (const Workspace& workspace : one.workspaces) buffers_.insert(workspace.name);
  }

  std::optional<LaunchObjection> Check() {
    for (const TensorMapDirective& map : one_.tensor_maps) {
      line_ = map.line;
      Buffer(map.buffer, fmt::format("evo:tensormap {}", map.name));
      for (const Expression& part : map.dims) Values(part, fmt::format("evo:tensormap {}: dims", map.name));
      for (const Expression& part : map.box) Values(part, fmt::format("evo:tensormap {}: box", map.name));
      Values(map.swizzle, fmt::format("evo:tensormap {}: swizzle", map.name));
    }
    std::vector<std::string> steps;
    for (const Step& step : one_.steps) {
      if (step.repeat) {
        line_ = step.repeat->line;
        Values(step.repeat->count, "evo:repeat");
        steps.push_back(values_.insert(step.repeat->step).second ? step.repeat->step : "");
        for (const SwapDirective& swap : step.repeat->swaps) {
          line_ = swap.line;
          Buffer(swap.first, "evo:swap");
          Buffer(swap.second, "evo:swap");
        }
      }
      if (step.end && !steps.empty()) {
        values_.erase(steps.back());
        steps.pop_back();
      }
      if (step.memset) {
        line_ = step.memset->line;
        Buffer(step.memset->buffer, "evo:memset");
      }
      if (step.launch) Launch(*step.launch);
    }
    return objection_;
  }

 private:
  void Launch(const LaunchDirective& launch) {
    line_ = launch.line;
    const std::string place = fmt::format("evo:launch {}: ", launch.kernel);
    for (const Expression& part : launch.grid) Values(part, place + "grid");
    for (const Expression& part : launch.block) Values(part, place + "block");
    for (const Expression& part : launch.cluster) Values(part, place + "cluster");
    Values(launch.shared, place + "shared");
    if (launch.when) Values(*launch.when, place + "when");
    for (std::size_t i = 0; i < launch.arguments.size(); ++i)
      Check(ParseLaunchArgument(launch.arguments[i]), fmt::format("{}argument {}", place, i + 1));
  }

  void Check(const LaunchArgumentText& argument, const std::string& place) {
    for (const LaunchArgumentText& field : argument.fields) Check(field, place);
    if (argument.kind == ArgumentKind::kStruct) return;
    if (argument.kind == ArgumentKind::kName) {
      const auto is_map = [&](const TensorMapDirective& map) { return map.name == argument.text; };
      if (buffers_.contains(argument.text) || values_.contains(argument.text)) return;
      if (std::any_of(one_.tensor_maps.begin(), one_.tensor_maps.end(), is_map)) return;
      return Object(fmt::format("{}, '{}', names nothing; there are {}", place, argument.text, Joined(All())));
    }
    try {
      Values(Expression::Parse(argument.text), place);
    } catch (const Error& error) {
      Object(fmt::format("{}, '{}': {}", place, argument.text, error.what()));
    }
  }

  void Values(const Expression& expression, const std::string& place) {
    for (const std::string& name : expression.Names()) {
      if (values_.contains(name)) continue;
      const bool buffer = buffers_.contains(name);
      Object(fmt::format("{}: '{}' is {}; an expression knows {}", place, name, buffer ? "a buffer, not a number" : "not known",
                         Joined({values_.begin(), values_.end()})));
    }
  }

  void Buffer(const std::string& name, const std::string& place) {
    if (buffers_.contains(name)) return;
    Object(fmt::format("{}: there is no buffer '{}'; there are {}", place, name, Joined({buffers_.begin(), buffers_.end()})));
  }

  std::vector<std::string> All() const {
    std::vector<std::string> names(buffers_.begin(), buffers_.end());
    for (const TensorMapDirective& map : one_.tensor_maps) names.push_back(map.name);
    names.insert(names.end(), values_.begin(), values_.end());
    return names;
  }

  void Object(std::string what) {
    if (!objection_) objection_ = LaunchObjection{line_, std::move(what)};
  }

  const KernelTemplate& one_;
  const Task& task_;
  std::set<std::string> values_;
  std::set<std::string> buffers_;
  int line_ = 0;
  std::optional<LaunchObjection> objection_;
};

// Compares one launch line with its kernel.
class LaunchComparer {
 public:
  LaunchComparer(const KernelTemplate& one, const Task& task, const TemplateSignatures& known, const LaunchDirective& launch,
                 const KernelSignature& kernel)
      : one_(one), task_(task), known_(known), kernel_(kernel) {
    const std::size_t open = launch.kernel_expression.find('<');
    if (open != std::string::npos)
      template_arguments_ = SplitAtCommas(launch.kernel_expression.substr(open + 1, launch.kernel_expression.size() - open - 2));
    place_ = fmt::format("evo:launch {}: ", launch.kernel);
    for (const std::string& text : launch.arguments) arguments_.push_back(ParseLaunchArgument(text));
    texts_ = launch.arguments;
  }

  // Empty if it fits.
  std::string Compare() const {
    if (arguments_.size() != kernel_.parameters.size()) {
      std::vector<std::string> written;
      for (const SignatureParameter& parameter : kernel_.parameters) written.push_back(parameter.written);
      return fmt::format("{}{} argument{}, but the kernel takes {}: ({})", place_, arguments_.size(),
                         arguments_.size() == 1 ? "" : "s", kernel_.parameters.size(), Joined(written));
    }
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const std::string type = Resolved(kernel_.parameters[i].type);
      const std::string taken = fmt::format("the kernel takes `{}`", kernel_.parameters[i].written);
      const bool is_struct = arguments_[i].kind == ArgumentKind::kStruct;
      const std::string what = is_struct ? CompareStruct(arguments_[i], type, taken) : CompareOne(arguments_[i], type, taken);
      if (!what.empty()) return fmt::format("{}argument {}, '{}', {}", place_, i + 1, texts_[i], what);
    }
    return "";
  }

 private:
  // With the template's type in place of its parameter, if the launch line says it.
  std::string Resolved(const std::string& type) const {
    constexpr std::string_view kParameter = "type-parameter-0-";
    const std::size_t at = type.find(kParameter);
    if (at == std::string::npos) return type;
    std::size_t index = 0;
    const char* end = type.data() + type.size();
    const auto read = std::from_chars(type.data() + at + kParameter.size(), end, index);
    const auto used = static_cast<std::size_t>(read.ptr - (type.data() + at));
    const bool alone = type.find_first_of("<:") == std::string::npos;
    if (read.ec != std::errc() || index >= template_arguments_.size() || !alone) return type;
    std::string argument = template_arguments_[index];
    if (const auto found = known_.types.find(argument); found != known_.types.end()) argument = found->second;
    return type.substr(0, at) + Spelled(argument) + type.substr(at + used);
  }

  // A type as people write it, in the canonical spelling; one that is not known stays dependent.
  static std::string Spelled(const std::string& type) {
    static const std::map<std::string, std::string, std::less<>> kSpellings = {{"half", "__half"},
                                                                               {"half2", "__half2"},
                                                                               {"nv_bfloat16", "__nv_bfloat16"},
                                                                               {"unsigned", "unsigned int"},
                                                                               {"uint", "unsigned int"},
                                                                               {"uint32_t", "unsigned int"},
                                                                               {"int32_t", "int"},
                                                                               {"int64_t", "long"},
                                                                               {"uint64_t", "unsigned long"},
                                                                               {"size_t", "unsigned long"},
                                                                               {"uint8_t", "unsigned char"},
                                                                               {"int8_t", "signed char"},
                                                                               {"int16_t", "short"},
                                                                               {"uint16_t", "unsigned short"},
                                                                               {"nv_bfloat162", "__nv_bfloat162"}};
    const auto found = kSpellings.find(type);
    return found == kSpellings.end() ? type : found->second;
  }

  // What is wrong; empty if nothing is. `taken` says what the kernel takes.
  std::string CompareStruct(const LaunchArgumentText& argument, const std::string& canonical, const std::string& taken) const {
    using TypeKind = ParameterType::Kind;
    const ParameterType type = ParseParameterType(canonical);
    if (type.pointer || type.kind == TypeKind::kReal || type.kind == TypeKind::kInteger || type.kind == TypeKind::kBool)
      return type.vector ? "" : fmt::format("is a struct, but {}", taken);
    const auto found = known_.structs.find(type.record);
    if (type.kind != TypeKind::kRecord || found == known_.structs.end() || found->second.empty()) return "";
    const std::vector<std::string>& fields = found->second;
    const auto is_array = [](const std::string& field) { return field.find('[') != std::string::npos; };
    if (std::any_of(fields.begin(), fields.end(), is_array)) return "";
    if (fields.size() != argument.fields.size())
      return fmt::format("has {} fields, but {}, which has {}", argument.fields.size(), taken, fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string field = fmt::format("{}, whose field {} is `{}`", taken, i + 1, fields[i]);
      const std::string what = CompareOne(argument.fields[i], fields[i], field);
      if (!what.empty()) return fmt::format("field {}, {}", i + 1, what);
    }
    return "";
  }

  std::string CompareOne(const LaunchArgumentText& argument, const std::string& canonical, const std::string& taken) const {
    const ParameterType type = ParseParameterType(canonical);
    const Passed passed = WhatIsPassed(one_, task_, argument);
    const std::string_view dtype = ToString(passed.type.dtype);
    if (type.kind == ParameterType::Kind::kUnknown && !type.pointer) return "";
    switch (passed.what) {
      case Passed::What::kMap:
        if (!type.pointer && type.kind == ParameterType::Kind::kRecord) return "";
        return fmt::format("is a tensor map, which is passed by value as a struct of 128 bytes, but {}", taken);
      case Passed::What::kBuffer:
        if (TakesBuffer(type, passed.type.dtype)) return "";
        return fmt::format("is a buffer of {}, but {}{}", dtype, taken, type.pointer ? "; change one of the two types" : "");
      default:
        break;
    }
    if (TakesScalar(type, passed.type)) return "";
    if (type.pointer) return fmt::format("is a number, but {}; name a buffer of the task or a workspace", taken);
    const bool scalar = argument.kind == ArgumentKind::kName && FindArgument(task_, argument.text) != nullptr;
    const bool by_default = argument.kind != ArgumentKind::kCast && !scalar;
    return fmt::format("is passed as {}, but {}{}",
                       by_default            ? "int"
                       : passed.type.boolean ? "bool"
                                             : dtype,
                       taken, Remedy(type, argument.text, scalar));
  }

  static std::string Remedy(const ParameterType& type, const std::string& text, bool scalar) {
    const auto wanted = ScalarNameOf(type);
    if (!wanted) return "";
    if (scalar) return fmt::format("; write {0}({1}), or declare it as {0} in task.json", *wanted, text);
    const bool vowel = (*wanted)[0] == 'i' || (*wanted)[0] == 'f';  // as it is spoken
    return fmt::format("; write {0}({1}) or declare {2} {0} scalar", *wanted, text, vowel ? "an" : "a");
  }

  const KernelTemplate& one_;
  const Task& task_;
  const TemplateSignatures& known_;
  const KernelSignature& kernel_;
  std::string place_;
  std::vector<std::string> template_arguments_;
  std::vector<LaunchArgumentText> arguments_;
  std::vector<std::string> texts_;
};

// The kernels that a launch line may mean: several if the name is overloaded. A using-declaration can leave out namespaces.
std::vector<const KernelSignature*> KernelsOf(const std::string& name, const KernelTemplate& one,
                                              const TemplateSignatures& signatures) {
  std::vector<const KernelSignature*> kernels;
  const bool uses = one.text.find("using ") != std::string::npos;
  for (const KernelSignature& kernel : signatures.kernels) {
    if (kernel.name == name || (uses && kernel.name.ends_with("::" + name))) kernels.push_back(&kernel);
  }
  return kernels;
}

}  // namespace

std::optional<LaunchObjection> CheckNames(const KernelTemplate& one, const Task& task) { return NameChecker(one, task).Check(); }

std::optional<LaunchObjection> CheckLaunches(const KernelTemplate& one, const Task& task, const TemplateSignatures& signatures) {
  for (const Step& step : one.steps) {
    if (!step.launch) continue;
    const std::string& name = step.launch->kernel;
    const std::vector<const KernelSignature*> kernels = KernelsOf(name, one, signatures);
    if (kernels.empty()) {
      std::vector<std::string> names;
      for (const KernelSignature& kernel : signatures.kernels) names.push_back(kernel.name);
      // A macro may make the kernel; then nothing is known of its name.
      if (names.empty() || one.text.find("##") != std::string::npos) continue;
      return LaunchObjection{step.launch->line,
                             fmt::format("evo:launch {}: there is no kernel of this name; there are {}", name, Joined(names))};
    }
    std::vector<std::string> wrong;
    for (const KernelSignature* kernel : kernels) {
      const std::string what = kernel->doubtful ? "" : LaunchComparer(one, task, signatures, *step.launch, *kernel).Compare();
      if (!what.empty()) wrong.push_back(what);
    }
    if (wrong.size() == kernels.size()) return LaunchObjection{step.launch->line, wrong.front()};
  }
  return std::nullopt;
}

}  // namespace evo
