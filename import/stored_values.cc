#include "import/stored_values.h"

#include <algorithm>
#include <string>
#include <vector>

#include "import/element_type.h"

namespace evo {
namespace {

using Kind = HostExpression::Kind;

// `*width = w;` in a function that gets `&width`.
struct Store {
  std::size_t parameter = 0;
  HostExpression value;
};
std::vector<Store> StoresIn(const SourceProgram& program, const ProgramFunction& filler) {
  std::vector<Store> stores;
  for (std::size_t at = program.TokenAt(filler.body.begin); at + 3 < program.tokens().size(); ++at) {
    if (program.tokens()[at].begin >= filler.body.end) break;
    if (program.Token(at) != "*" || program.Token(at + 2) != "=") continue;
    const auto parameter = std::find_if(filler.parameters.begin(), filler.parameters.end(),
                                        [&](const ProgramParameter& one) { return one.name == program.Token(at + 1); });
    std::size_t end = at + 3;
    while (end < program.tokens().size() && program.Token(end) != ";") ++end;
    if (parameter == filler.parameters.end() || end == at + 3 || end >= program.tokens().size()) continue;
    const SourceRange range{program.tokens()[at + 3].begin, program.tokens()[end - 1].end};
    stores.push_back(
        {static_cast<std::size_t>(parameter - filler.parameters.begin()), ParseHostExpression(program.Tokens(range))});
  }
  return stores;
}

// Stores of a call in terms of the caller: what is stored elsewhere, too, and what another parameter points to, are the variables
// of which the caller passes the addresses.
class StoredValues {
 public:
  StoredValues(const SourceProgram& program, HostCode& host, const HostCall& call, int callee)
      : host_(host),
        call_(call),
        callee_(callee),
        filler_(program.functions()[static_cast<std::size_t>(callee)]),
        stores_(StoresIn(program, filler_)) {
    for (const SourceRange& argument : call.arguments) {
      const auto words = program.Tokens(argument);
      addressed_.emplace_back(words.size() == 2 && words[0] == "&" ? words[1] : "");
    }
  }

  std::optional<HostExpression> Of(std::size_t parameter) {
    for (const Store& store : stores_) {
      if (store.parameter != parameter) continue;
      HostExpression value = Simplified(InCaller(store.value, parameter));
      const auto names = value.Names();
      const auto is_leaf = [&](const std::string& name) { return host_.leaves().contains(name); };
      if (value.IsKnown() && std::all_of(names.begin(), names.end(), is_leaf)) return value;
    }
    return std::nullopt;
  }

 private:
  // The variable of the caller of which it passes the address; nullopt for another argument.
  std::optional<HostExpression> Addressed(std::size_t argument) {
    if (argument >= addressed_.size() || addressed_[argument].empty()) return std::nullopt;
    return host_.Resolve(HostExpression::Name(addressed_[argument]), call_.function);
  }

  HostExpression InCaller(const HostExpression& expression, std::size_t parameter) {
    if (expression.kind == Kind::kUnary && expression.Is("*") && expression.parts[0].kind == Kind::kName) {
      for (std::size_t p = 0; p < filler_.parameters.size(); ++p) {
        if (filler_.parameters[p].name != expression.parts[0].text) continue;
        if (auto variable = Addressed(p)) return *std::move(variable);
      }
    }
    if (expression.kind == Kind::kName) {
      for (const Store& other : stores_) {
        if (other.parameter == parameter || other.value.kind != Kind::kName || !other.value.Is(expression.text)) continue;
        if (auto variable = Addressed(other.parameter)) return *std::move(variable);
      }
      return host_.InCall(expression, callee_, call_, 0);
    }
    HostExpression result = expression;
    for (HostExpression& part : result.parts) part = InCaller(part, parameter);
    return result;
  }

  HostCode& host_;
  const HostCall& call_;
  int callee_;
  const ProgramFunction& filler_;
  std::vector<Store> stores_;
  std::vector<std::string> addressed_;  // variables, by argument; empty for other arguments
};

}  // namespace

std::optional<HostExpression> StoredByCall(const SourceProgram& program, HostCode& host, const ProgramVariable& variable) {
  const std::string_view initial = program.Text(variable.initialiser);
  if (variable.function < 0 || (!initial.empty() && initial != "0") || !IsTypeOfNumber(variable.type)) return std::nullopt;
  bool passed = false;
  for (const HostCall& call : host.calls()) {
    if (call.function != variable.function || call.name.starts_with("cuda")) continue;
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      const auto words = program.Tokens(call.arguments[i]);
      if (words.size() != 2 || words[0] != "&" || words[1] != variable.name) continue;
      passed = true;
      const int callee = program.FindFunction(call.name);
      if (callee < 0 || callee == call.function) continue;
      if (auto value = StoredValues(program, host, call, callee).Of(i)) return value;
    }
  }
  return passed ? std::optional(HostExpression{}) : std::nullopt;
}

}  // namespace evo
