#include "import/step_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "import/element_type.h"
#include "import/host_calls.h"
#include "import/host_loops.h"
#include "import/start_values.h"
#include "syntax/splices.h"

namespace evo {
namespace {

constexpr const char *kCopy = "copy_elements", *kSetToZero = "set_to_zero", *kStartOf = "start_of_";

class StepKernelWriter {
 public:
  explicit StepKernelWriter(const SourceProgram& program)
      : program_(program), calls_(program), loops_(ReadHostLoops(program, calls_)) {}

  std::optional<std::string> Run() {
    for (const HostCall& call : calls_.calls()) {
      const bool copies = call.name == "cudaMemcpy" || call.name == "cudaMemcpyAsync";
      if (copies && call.arguments.size() >= 4 && program_.Text(call.arguments[3]) == "cudaMemcpyDeviceToDevice") WriteCopy(call);
      const bool sets = call.name == "cudaMemset" || call.name == "cudaMemsetAsync";
      const bool from_host = copies && call.arguments.size() >= 4 && program_.Text(call.arguments[3]) == "cudaMemcpyHostToDevice";
      const bool zero = sets ? call.arguments.size() >= 3 && program_.Text(call.arguments[1]) == "0"
                             : from_host && IsZero(call.arguments[1], call.function);
      if (zero) WriteZero(call);
      if (from_host) WriteStart(call);
    }
    return Spliced(program_.tree(), std::move(splices_));
  }

 private:
  // The canonical type of what a variable or parameter points to; empty if it is no pointer to numbers.
  std::string ElementOf(std::string_view name, int function, std::uint32_t at) const {
    std::string type;
    if (const ProgramVariable* const variable = program_.FindVariable(name, function, at)) {
      type = variable->type;
    } else {
      for (const ProgramParameter& one : program_.functions()[static_cast<std::size_t>(function)].parameters) {
        if (one.name == name) type = one.type;
      }
    }
    if (!IsPointerType(type)) return "";
    std::string element = PointedType(type);
    return SizeOfType(element) > 0 ? element : "";
  }

  // Whether a kernel can be written before the function.
  bool IsPlain(int function) const {
    if (function < 0) return false;
    const ProgramFunction& one = program_.functions()[static_cast<std::size_t>(function)];
    return one.record.empty() && one.outer < 0 && one.template_parameters.empty() && one.qualified == one.name;
  }

  // `call;` or `CHECK(call);` without the semicolon; empty if it is a part of anything else.
  SourceRange StatementOf(const HostCall& call) const {
    const auto begins = [&](std::size_t at) {
      constexpr std::string_view kBefore[] = {";", "{", "}", ")", "else"};
      return at > 0 && std::find(std::begin(kBefore), std::end(kBefore), program_.Token(at - 1)) != std::end(kBefore);
    };
    const std::size_t first = program_.TokenAt(call.range.begin), end = program_.TokenAt(call.range.end);
    if (begins(first) && program_.Token(end) == ";") return call.range;
    const bool wrapped = first > 1 && program_.Token(first - 1) == "(" && IsWord(program_.Token(first - 2)) && begins(first - 2);
    const std::string_view word = wrapped ? program_.Token(first - 2) : "";
    const bool checks = wrapped && word != "if" && word != "while" && word != "for" && word != "return" && word != "switch";
    if (!checks || program_.Token(end) != ")" || program_.Token(end + 1) != ";") return {};
    return {program_.tokens()[first - 2].begin, program_.tokens()[end].end};
  }

  bool Gets(const HostCall& call, std::string_view name) const {
    return std::any_of(call.arguments.begin(), call.arguments.end(),
                       [&](const SourceRange& argument) { return program_.Text(argument) == name; });
  }

  // Whether a launch depends on what the loop changes, also by way of variables of its body.
  bool Follows(const HostLaunch& launch, const HostLoop& loop) const {
    for (const std::string_view word : program_.Tokens(launch.range)) {
      if (loop.Find(std::string(word)) != nullptr) return true;
      for (const ProgramVariable& variable : program_.variables()) {
        const SourceRange& declared = program_.tree().node(variable.node).range;
        if (variable.name == word && variable.function == loop.function && loop.body.Contains(declared)) return true;
      }
    }
    return false;
  }

  // Whether a copy hands on what a launch before it has written to one behind it, perhaps by way of functions; not in loops.
  bool IsBetween(const HostCall& call, std::string_view from, std::string_view to) const {
    const auto is_in = [&](const HostLoop& loop) { return loop.function == call.function && loop.body.Contains(call.range); };
    if (std::any_of(loops_.begin(), loops_.end(), is_in)) return false;
    bool before = false, after = false;
    const auto look = [&](const HostCall& other) {
      if (other.function != call.function) return;
      before = before || (other.range.end < call.range.begin && Gets(other, from));
      after = after || (other.range.begin > call.range.end && Gets(other, to));
    };
    for (const HostLaunch& launch : calls_.launches()) look(launch);
    for (const HostCall& other : calls_.calls()) {
      if (program_.FindFunction(other.name) >= 0) look(other);
    }
    return before && after;
  }

  void WriteCopy(const HostCall& call) {
    const std::string_view to = program_.Text(call.arguments[0]), from = program_.Text(call.arguments[1]);
    const SourceRange statement = StatementOf(call);
    if (!IsWord(to) || !IsWord(from) || to == from || statement.size() == 0 || !IsPlain(call.function)) return;
    const std::string element = ElementOf(to, call.function, call.range.begin);
    if (element.empty() || element != ElementOf(from, call.function, call.range.begin)) return;
    const auto is_around = [&](const HostLoop& loop) {
      bool gets_to = false, gets_from = false, follows = false;
      for (const HostLaunch& launch : calls_.launches()) {
        if (launch.function != loop.function || !loop.body.Contains(launch.range)) continue;
        gets_to = gets_to || Gets(launch, to);
        gets_from = gets_from || Gets(launch, from);
        follows = follows || Follows(launch, loop);
      }
      return loop.function == call.function && loop.body.Contains(call.range) && gets_to && gets_from && follows;
    };
    const bool of_steps = std::any_of(loops_.begin(), loops_.end(), is_around);
    if (!of_steps && !IsBetween(call, from, to)) return;
    const auto names = ParseHostExpression(program_.Tokens(call.arguments[2])).Names();
    const auto of_unknown_type = [&](const std::string& one) {
      return one.starts_with("sizeof ") && !SizeNamed(program_, one.substr(7), call.function);
    };
    if (std::any_of(names.begin(), names.end(), of_unknown_type)) return;
    const std::string name = KernelFor(call.function, kCopy, element,
                                       "(const {0}* from, {0}* to, long long count) {{ const long long i = blockIdx.x * (long "
                                       "long)blockDim.x + threadIdx.x; if (i < count) to[i] = from[i]; }} ");
    const std::string count = fmt::format("({}) / {}", program_.Text(call.arguments[2]), SizeOfType(element));
    const std::string launch = fmt::format("{0}<<<({1} + 255) / 256, 256>>>({2}, {3}, {1})", name, count, from, to);
    Replace(statement, launch);
  }

  // `&zero`, where `int zero = 0;` and nothing changes it.
  bool IsZero(const SourceRange& argument, int function) const {
    const auto tokens = program_.Tokens(argument);
    if (tokens.size() != 2 || tokens[0] != "&") return false;
    const ProgramVariable* const variable = program_.FindVariable(tokens[1], function, argument.begin);
    if (variable == nullptr || variable->function != function || !calls_.AssignedTo(variable->name, function).empty())
      return false;
    const std::string_view value = program_.Text(variable->initialiser);
    if (value != "0" && value != "0.0" && value != "0.0f" && value != "0.f" && value != "0.") return false;
    // Each other mention could change it: as a reference, or by its address.
    const auto all = program_.Tokens(program_.functions()[static_cast<std::size_t>(function)].range);
    return std::count(all.begin(), all.end(), tokens[1]) == 2;
  }

  void WriteZero(const HostCall& call) {
    const std::size_t first = program_.TokenAt(call.arguments[0].begin);
    const bool address = program_.Token(first) == "&";
    const std::size_t name = first + (address ? 1 : 0);
    const std::string_view base = program_.Token(name);
    const SourceRange statement = StatementOf(call);
    if (!IsWord(base) || program_.Token(name + 1) != (address ? "[" : "+") || statement.size() == 0 || !IsPlain(call.function))
      return;
    if (address && program_.tokens()[program_.AfterBracket(name + 1) - 1].end != call.arguments[0].end) return;
    const std::string element = ElementOf(base, call.function, call.range.begin);
    const std::uint32_t begin = program_.tokens()[name + 2].begin;
    const std::uint32_t end = call.arguments[0].end - (address ? 1 : 0);
    if (element.empty() || end <= begin || !IsOneElement(call.arguments[2], element)) return;
    bool before = false, after = false;
    for (const HostLaunch& launch : calls_.launches()) {
      if (launch.function != call.function || !Gets(launch, base)) continue;
      before = before || launch.range.end < call.range.begin;
      after = after || launch.range.begin > call.range.end;
    }
    if (!before || !after) return;
    const std::string kernel =
        KernelFor(call.function, kSetToZero, element, "({0}* elements, long long at) {{ elements[at] = 0; }} ");
    Replace(statement, fmt::format("{}<<<1, 1>>>({}, {})", kernel, base, program_.Text({begin, end})));
  }

  // `cudaMemcpy(m, h, bytes, cudaMemcpyHostToDevice)`, where all elements of h are the number with which a maximum begins.
  void WriteStart(const HostCall& call) {
    const std::string_view to = program_.Text(call.arguments[0]);
    const SourceRange statement = StatementOf(call);
    if (!IsWord(to) || statement.size() == 0 || !IsPlain(call.function)) return;
    const std::string element = ElementOf(to, call.function, call.range.begin);
    const std::string value = StartValue(program_, calls_.calls(), call);
    if (element.empty() || value.empty() || value == "0") return;
    const auto gets = [&](const HostLaunch& launch) {
      return launch.function == call.function && launch.range.begin > call.range.end && Gets(launch, to);
    };
    if (std::none_of(calls_.launches().begin(), calls_.launches().end(), gets)) return;
    const std::string name(to == "i" || to == "count" ? "elements" : to);
    const std::string text =
        "({0}* " + name +
        ", long long count) {{ const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; if (i < "
        "count) " +
        name + "[i] = " + value + "; }} ";
    const std::string kernel = KernelFor(call.function, kStartOf + std::string(to), element, text);
    const std::string count = fmt::format("({}) / {}", program_.Text(call.arguments[2]), SizeOfType(element));
    Replace(statement, fmt::format("{0}<<<({1} + 255) / 256, 256>>>({2}, {1})", kernel, count, to));
  }

  // Whether bytes are those of one element: a number, or `sizeof(T)` with a type or a variable of it.
  bool IsOneElement(const SourceRange& bytes, const std::string& element) const {
    const HostExpression size = Simplified(ParseHostExpression(program_.Tokens(bytes)));
    if (size.kind == HostExpression::Kind::kNumber) return size.number.integer == SizeOfType(element);
    constexpr std::string_view kSizeOf = "sizeof ";
    if (size.kind != HostExpression::Kind::kName || !size.text.starts_with(kSizeOf)) return false;
    return CanonicalType(program_, size.text.substr(kSizeOf.size())) == element;
  }

  // The kernel of this kind for elements of a type, which is written before the first function that launches it.
  std::string KernelFor(int function, const std::string& wanted, const std::string& element, const std::string& text) {
    const auto known = kernels_.find({wanted, element});
    if (known != kernels_.end()) return known->second;
    std::string name = wanted;
    const auto is_taken = [&](const std::string& one) {
      return program_.text().find(one) != std::string::npos ||
             std::any_of(kernels_.begin(), kernels_.end(), [&](const auto& other) { return other.second == one; });
    };
    while (is_taken(name)) name += '_';
    const std::size_t before = program_.text().rfind('\n', program_.functions()[static_cast<std::size_t>(function)].range.begin);
    const auto begin = static_cast<std::uint32_t>(before == std::string::npos ? 0 : before + 1);
    const auto blank = BlankLineBefore(begin);
    const std::uint32_t place = blank.value_or(begin);
    splices_.emplace_back(SourceRange{place, place},
                          "__global__ void " + name + fmt::format(fmt::runtime(text), element) + (blank ? "" : "\n"));
    return kernels_[{wanted, element}] = name;
  }

  // Where a line without anything begins, before that of a function and behind what comes before it: device code is taken by
  // lines.
  std::optional<std::uint32_t> BlankLineBefore(std::uint32_t line_of_function) const {
    const std::string& text = program_.text();
    const std::size_t first = program_.TokenAt(line_of_function);
    const std::size_t behind = first == 0 ? 0 : program_.tokens()[first - 1].end;
    for (std::size_t end = line_of_function == 0 ? 0 : line_of_function - 1; end != std::string::npos && end > 0;) {
      const std::size_t before = text.rfind('\n', end - 1), begin = before == std::string::npos ? 0 : before + 1;
      const std::string_view line = std::string_view(text).substr(begin, end - begin);
      if (begin < behind || line.find('*') != std::string_view::npos || line.find('#') != std::string_view::npos) break;
      if (line.find_first_not_of(" \t\r") == std::string_view::npos) return static_cast<std::uint32_t>(begin);
      end = before;
    }
    return std::nullopt;
  }

  // Lines stay where they are.
  void Replace(const SourceRange& statement, std::string by) {
    const std::string_view text = program_.Text(statement);
    by.append(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), '\n');
    splices_.emplace_back(statement, std::move(by));
  }

  const SourceProgram& program_;
  HostCalls calls_;
  std::vector<HostLoop> loops_;
  std::vector<std::pair<SourceRange, std::string>> splices_;
  std::map<std::pair<std::string, std::string>, std::string> kernels_;  // names, by kind and type of elements
};

}  // namespace

bool IsStepKernel(std::string_view name) {
  return name.starts_with(kCopy) || name.starts_with(kSetToZero) || name.starts_with(kStartOf);
}

std::optional<std::string> WithStepKernels(const SourceProgram& program) { return StepKernelWriter(program).Run(); }

}  // namespace evo
