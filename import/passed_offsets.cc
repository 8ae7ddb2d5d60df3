#include "import/passed_offsets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "import/element_type.h"
#include "import/host_calls.h"
#include "import/kernel_heads.h"
#include "syntax/splices.h"

namespace evo {
namespace {

// `base + offset`, or `&base[offset]`.
struct OffsetPointer {
  std::string base, offset;
};

class OffsetPasser {
 public:
  explicit OffsetPasser(const SourceProgram& program) : program_(program), calls_(program) {}

  std::optional<std::string> Run() {
    for (const ProgramFunction& kernel : program_.functions()) {
      if (kernel.kernel) Pass(kernel);
    }
    return Spliced(program_.tree(), std::move(splices_));
  }

 private:
  std::string_view Token(std::size_t at) const { return program_.Token(at); }
  static bool IsName(std::string_view token) {
    return !token.empty() && (std::isalpha(static_cast<unsigned char>(token.front())) != 0 || token.front() == '_');
  }

  // What a function's tokens show of a pointer that stays where it is.
  bool Moves(const ProgramVariable& variable) const {
    const auto tokens = program_.Tokens(program_.functions()[static_cast<std::size_t>(variable.function)].range);
    for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
      if (tokens[i] != variable.name) continue;
      constexpr std::string_view kMoves[] = {"+=", "-=", "++", "--"};
      const auto moves = [&](std::string_view token) {
        return std::find(std::begin(kMoves), std::end(kMoves), token) != std::end(kMoves);
      };
      if (moves(tokens[i - 1]) || moves(tokens[i + 1]) || tokens[i - 1] == "&") return true;
    }
    return !calls_.AssignedTo(variable.name, variable.function).empty();
  }

  bool IsPointer(std::string_view name, int function) const {
    if (const ProgramVariable* const variable = program_.FindVariable(name, function)) return IsPointerType(variable->type);
    if (function < 0) return false;
    const auto& parameters = program_.functions()[static_cast<std::size_t>(function)].parameters;
    return std::any_of(parameters.begin(), parameters.end(),
                       [&](const ProgramParameter& one) { return one.name == name && IsPointerType(one.type); });
  }

  std::optional<OffsetPointer> Read(const SourceRange& argument, int function) const {
    const std::size_t first = program_.TokenAt(argument.begin);
    const bool address = Token(first) == "&";
    std::size_t at = first + (address ? 1 : 0);
    if (!IsName(Token(at))) return std::nullopt;
    const std::size_t base = at++;
    const bool field = Token(at) == "." || Token(at) == "->";
    while ((Token(at) == "." || Token(at) == "->") && IsName(Token(at + 1))) at += 2;
    const auto& tokens = program_.tokens();
    if (!address && at < tokens.size() && tokens[at - 1].end == argument.end && !field)
      return ReadVariable(Token(base), function);
    if (at + 1 >= tokens.size() || tokens[at].begin >= argument.end || Token(at) != (address ? "[" : "+")) return std::nullopt;
    if (address && tokens[program_.AfterBracket(at) - 1].end != argument.end) return std::nullopt;
    if (!field && !IsPointer(Token(base), function)) return std::nullopt;
    const std::string& text = program_.text();
    const std::uint32_t end = address ? argument.end - 1 : argument.end;
    return OffsetPointer{text.substr(tokens[base].begin, tokens[at - 1].end - tokens[base].begin),
                         text.substr(tokens[at + 1].begin, end - tokens[at + 1].begin)};
  }

  // `float* tail = x + n;`, which is passed.
  std::optional<OffsetPointer> ReadVariable(std::string_view name, int function) const {
    const ProgramVariable* const variable = program_.FindVariable(name, function);
    const bool plain = variable != nullptr && variable->function >= 0 && variable->record.empty() && !variable->loop;
    if (!plain || variable->initialiser.size() == 0 || !IsPointerType(variable->type) || Moves(*variable)) return std::nullopt;
    const std::size_t first = program_.TokenAt(variable->initialiser.begin);
    if (program_.tokens()[first].end == variable->initialiser.end) return std::nullopt;  // it is another's name
    return Read(variable->initialiser, variable->function);
  }

  bool IsConstant(const std::string& offset) const {
    for (const SourceRange& token : Tokenize(offset)) {
      const std::string_view word = std::string_view(offset).substr(token.begin, token.size());
      if (!IsName(word) || program_.FindMacro(word) != nullptr) continue;
      const ProgramVariable* const variable = program_.FindVariable(word, -1);
      if (variable == nullptr || variable->function >= 0) return false;
    }
    return true;
  }

  void Pass(const ProgramFunction& kernel) {
    std::vector<const HostLaunch*> launches;
    for (const HostLaunch& launch : calls_.launches()) {
      if (launch.name == kernel.name) launches.push_back(&launch);
    }
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      const ProgramParameter& parameter = kernel.parameters[i];
      const bool fixed = parameter.type.find("const", parameter.type.rfind('*') + 1) != std::string::npos;
      if (!IsPointerType(parameter.type) || parameter.name.empty() || fixed) continue;
      std::vector<std::optional<OffsetPointer>> passed;
      for (const HostLaunch* const launch : launches) {
        const bool spelled = i < launch->arguments.size() && program_.Text(launch->range).find("<<<") != std::string_view::npos;
        if (!spelled) return;
        passed.push_back(Read(launch->arguments[i], launch->function));
      }
      if (std::none_of(passed.begin(), passed.end(), [](const auto& one) { return one.has_value(); })) continue;
      const auto same = [&](const auto& one) { return one && one->offset == passed.front()->offset && IsConstant(one->offset); };
      if (std::all_of(passed.begin(), passed.end(), same)) continue;
      std::string number = parameter.name + "_begin";
      while (program_.text().find(number) != std::string::npos) number += '_';
      Splices splices;
      if (!AddToSignatures(kernel, i, number, splices)) continue;
      for (std::size_t l = 0; l < launches.size(); ++l) {
        const SourceRange& argument = launches[l]->arguments[i];
        const SourceRange behind{argument.end, argument.end};
        if (passed[l])
          splices.emplace_back(argument, fmt::format("{}, {}", passed[l]->base, passed[l]->offset));
        else
          splices.emplace_back(behind, ", 0");
      }
      splices_.insert(splices_.end(), splices.begin(), splices.end());
    }
  }

  // Adds the number behind a pointer wherever the kernel is declared, and to the pointer where it is defined.
  bool AddToSignatures(const ProgramFunction& kernel, std::size_t index, const std::string& number, Splices& splices) const {
    const std::vector<KernelHead> heads = HeadsOf(program_, calls_, kernel);
    for (const KernelHead& head : heads) {
      const SourceRange& own = head.parameters[index];
      if (program_.Text(own).find('=') != std::string_view::npos) return false;
      splices.emplace_back(SourceRange{own.end, own.end}, fmt::format(", long long {}", number));
      if (head.body > 0)
        splices.emplace_back(SourceRange{head.body, head.body}, fmt::format(" {} += {};", kernel.parameters[index].name, number));
    }
    return !heads.empty();
  }

  const SourceProgram& program_;
  HostCalls calls_;
  Splices splices_;
};

}  // namespace

std::optional<std::string> WithPassedOffsets(const SourceProgram& program) { return OffsetPasser(program).Run(); }

}  // namespace evo
