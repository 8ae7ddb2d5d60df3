#include "import/template_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include "import/element_type.h"

namespace evo {
namespace {

// Functions that call each other end somewhere.
constexpr int kMostTemplateCallers = 8;

std::string Placeholder(std::size_t t) { return fmt::format("type-parameter-0-{}", t); }

// Where a type names the parameter `t`, and not the one of ten times that number.
std::optional<std::size_t> PlaceOf(const std::string& type, std::size_t t) {
  const std::size_t at = type.find(Placeholder(t)), end = at + Placeholder(t).size();
  if (at == std::string::npos) return std::nullopt;
  if (end < type.size() && std::isdigit(static_cast<unsigned char>(type[end])) != 0) return std::nullopt;
  return at;
}

// What stands between the brackets of `run<float, 4>(x)`.
std::vector<std::string> SpelledIn(const SourceProgram& program, const HostCall& call) {
  std::size_t at = program.TokenAt(call.range.begin);
  const std::size_t end = program.TokenAt(call.range.end);
  while (at < end && program.Token(at) != call.name) ++at;
  if (at + 1 >= end || program.Token(at + 1) != "<") return {};
  std::vector<std::string> arguments(1);
  int depth = 0;
  for (at += 2; at < end && (depth > 0 || program.Token(at) != ">"); ++at) {
    const std::string_view token = program.Token(at);
    depth += (token == "<" || token == "(") - (token == ">" || token == ")");
    std::string& last = arguments.back();
    const bool apart = !last.empty() && token != "::" && !last.ends_with("::");
    if (depth == 0 && token == ",")
      arguments.emplace_back();
    else
      last += (apart ? " " : "") + std::string(token);
  }
  return arguments;
}

class TemplateTypes {
 public:
  TemplateTypes(const SourceProgram& program, const HostCode& host) : program_(program), host_(host) {}

  // `depth`: of the callers that led here.
  std::string Argument(const HostCall& call, const std::vector<std::string>& arguments, const ProgramFunction& called,
                       std::size_t t, int depth) const {
    const std::string type = t < arguments.size() ? Known(arguments[t], call.function, depth) : "";
    return type.empty() ? Deduced(call, called, t, depth) : type;
  }

 private:
  const ProgramFunction& FunctionOf(int function) const { return program_.functions()[static_cast<std::size_t>(function)]; }

  // Of a host function, by its first caller that says it.
  std::string OfHost(int function, std::size_t t, int depth) const {
    if (depth > kMostTemplateCallers) return "";
    const ProgramFunction& called = FunctionOf(function);
    for (const HostCall& call : host_.calls()) {
      if (call.name != called.name || call.function == function || call.arguments.size() > called.parameters.size()) continue;
      if (std::string type = Argument(call, SpelledIn(program_, call), called, t, depth); !type.empty()) return type;
    }
    return "";
  }

  // A type that is spelled in a function, which may be a parameter of that.
  std::string Known(const std::string& spelled, int function, int depth) const {
    if (function >= 0) {
      const auto& parameters = FunctionOf(function).template_parameters;
      const auto same = [&](const TemplateParameter& one) { return one.is_type && one.name == spelled; };
      const auto found = std::find_if(parameters.begin(), parameters.end(), same);
      if (found != parameters.end()) return OfHost(function, static_cast<std::size_t>(found - parameters.begin()), depth + 1);
    }
    return CanonicalType(program_, spelled);
  }

  std::string Deduced(const HostCall& call, const ProgramFunction& called, std::size_t t, int depth) const {
    for (std::size_t i = 0; i < std::min(call.arguments.size(), called.parameters.size()); ++i) {
      const std::string& wanted = called.parameters[i].type;
      if (!PlaceOf(wanted, t) || !IsPointerType(wanted)) continue;
      const HostCode::Pointer passed = host_.Origin(call.arguments[i], call.function);
      for (const ProgramVariable& variable : program_.variables()) {
        if (variable.name != passed.name || variable.function != passed.function || !IsPointerType(variable.type)) continue;
        const std::string type = Within(PointedType(variable.type), variable.function, depth);
        if (type.find("type-parameter-") == std::string::npos) return type;
      }
      if (const auto vector = host_.VectorOf(passed)) return Known(vector->type, passed.function, depth);
    }
    for (std::size_t i = 0; i < std::min(call.arguments.size(), called.parameters.size()); ++i) {
      const std::string& wanted = called.parameters[i].type;
      if (IsPointerType(wanted) || PointedType(wanted) != Placeholder(t)) continue;
      if (std::string type = OfValue(call.arguments[i], call.function, depth); !type.empty()) return type;
    }
    return "";
  }

  // Of what is passed by value: `Plus()`, a number, or a variable; empty if it is anything else.
  std::string OfValue(const SourceRange& argument, int function, int depth) const {
    const auto tokens = program_.Tokens(argument);
    if (tokens.size() != 1) return NewObjectOf(program_, tokens);
    if (std::isdigit(static_cast<unsigned char>(tokens[0][0])) != 0) return OfNumber(tokens[0]);
    std::string type;
    if (const ProgramVariable* const variable = program_.FindVariable(tokens[0], function, argument.begin)) type = variable->type;
    for (const ProgramParameter& one : function < 0 ? std::vector<ProgramParameter>{} : FunctionOf(function).parameters) {
      if (one.name == tokens[0]) type = one.type;
    }
    if (type.empty() || IsPointerType(type)) return "";
    type = Within(PointedType(type), function, depth);
    return type.find("type-parameter-") == std::string::npos ? type : "";
  }

  static std::string OfNumber(std::string_view token) {
    std::string suffix;
    for (std::size_t i = token.size(); i > 0 && std::isalpha(static_cast<unsigned char>(token[i - 1])) != 0; --i)
      suffix.insert(suffix.begin(), static_cast<char>(std::tolower(static_cast<unsigned char>(token[i - 1]))));
    if (token.starts_with("0x") || token.starts_with("0X")) return "";
    const bool real = token.find_first_of(".eE") != std::string_view::npos;
    if (real) return suffix == "f" ? "float" : suffix.empty() || suffix.ends_with('e') ? "double" : "";
    if (suffix.empty()) return "int";
    return suffix == "u" ? "unsigned int" : suffix == "ll" ? "long long" : suffix == "ull" ? "unsigned long long" : "";
  }

  // A type of a host function's variable, with the types of its template in their places, where they are known.
  std::string Within(std::string type, int function, int depth) const {
    std::vector<std::string> arguments;
    const std::size_t count = function < 0 ? 0 : FunctionOf(function).template_parameters.size();
    for (std::size_t t = 0; t < count; ++t) arguments.push_back(PlaceOf(type, t) ? OfHost(function, t, depth + 1) : "");
    return WithTypeArguments(std::move(type), arguments);
  }

  const SourceProgram& program_;
  const HostCode& host_;
};

}  // namespace

std::string TypeArgumentOf(const SourceProgram& program, const HostCode& host, const HostCall& call,
                           const std::vector<std::string>& arguments, const ProgramFunction& called, std::size_t t) {
  return TemplateTypes(program, host).Argument(call, arguments, called, t, 0);
}

std::optional<TemplateValue> ValueOfTemplate(const SourceProgram& program, const std::vector<HostCall>& calls, int function,
                                             std::string_view name) {
  TemplateValue value{std::string(name), function};
  bool found = false;
  for (int depth = 0; depth < kMostTemplateCallers && value.function >= 0; ++depth) {
    const ProgramFunction& called = program.functions()[static_cast<std::size_t>(value.function)];
    const auto parameter = std::find_if(called.template_parameters.begin(), called.template_parameters.end(),
                                        [&](const TemplateParameter& one) { return !one.is_type && one.name == value.text; });
    if (parameter == called.template_parameters.end()) break;
    const auto t = static_cast<std::size_t>(parameter - called.template_parameters.begin());
    found = false;
    for (const HostCall& call : calls) {
      if (found || call.name != called.name || call.function == value.function) continue;
      const std::vector<std::string> spelled = SpelledIn(program, call);
      if (t >= spelled.size()) continue;
      value = {spelled[t], call.function};
      found = true;
    }
    if (!found) return std::nullopt;
  }
  return found ? std::optional(value) : std::nullopt;
}

std::string WithTypeArguments(std::string type, const std::vector<std::string>& arguments) {
  for (std::size_t t = 0; t < arguments.size(); ++t) {
    const auto at = PlaceOf(type, t);
    if (at && !arguments[t].empty()) type.replace(*at, Placeholder(t).size(), arguments[t]);
  }
  return type;
}

}  // namespace evo
