#include "import/template_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "import/element_type.h"

namespace evo {
namespace {

// Functions that call each other end somewhere.
constexpr int kMostTemplateCallers = 8;

class HostTypes {
 public:
  HostTypes(const SourceProgram& program, const HostCode& host) : program_(program), host_(host) {}

  std::string Argument(int function, std::size_t t, int depth) const {
    if (function < 0 || depth > kMostTemplateCallers) return "";
    const ProgramFunction& called = FunctionOf(function);
    for (const HostCall& call : host_.calls()) {
      if (call.name != called.name || call.function == function || call.arguments.size() > called.parameters.size()) continue;
      const std::string spelled = Spelled(call, t);
      const std::string type = spelled.empty() ? Deduced(call, called, t, depth) : Known(spelled, call.function, depth);
      if (!type.empty()) return type;
    }
    return "";
  }

  std::string Within(std::string type, int function, int depth) const {
    if (function < 0 || !HasTypeParameter(type)) return type;
    for (std::size_t t = 0; t < FunctionOf(function).template_parameters.size(); ++t) {
      const auto at = PlaceOf(type, t);
      if (!at) continue;
      const std::string argument = Argument(function, t, depth + 1);
      if (!argument.empty()) type.replace(*at, Placeholder(t).size(), argument);
    }
    return type;
  }

 private:
  const ProgramFunction& FunctionOf(int function) const { return program_.functions()[static_cast<std::size_t>(function)]; }
  static std::string Placeholder(std::size_t t) { return fmt::format("type-parameter-0-{}", t); }

  // Where a type names the parameter `t`, and not the one of ten times that number.
  static std::optional<std::size_t> PlaceOf(const std::string& type, std::size_t t) {
    const std::size_t at = type.find(Placeholder(t)), end = at + Placeholder(t).size();
    if (at == std::string::npos) return std::nullopt;
    if (end < type.size() && std::isdigit(static_cast<unsigned char>(type[end])) != 0) return std::nullopt;
    return at;
  }

  // What stands for the parameter between the brackets of `run<float, 4>(x)`; empty if there are none.
  std::string Spelled(const HostCall& call, std::size_t t) const {
    std::size_t at = program_.TokenAt(call.range.begin);
    const std::size_t end = program_.TokenAt(call.range.end);
    while (at < end && program_.Token(at) != call.name) ++at;
    if (at + 1 >= end || program_.Token(at + 1) != "<") return "";
    std::string text;
    int depth = 0;
    std::size_t argument = 0;
    for (at += 2; at < end; ++at) {
      const std::string_view token = program_.Token(at);
      if (depth == 0 && (token == ">" || (token == "," && argument == t))) break;
      if (token == "<" || token == "(") ++depth;
      if (token == ">" || token == ")") --depth;
      if (depth == 0 && token == ",")
        ++argument;
      else if (argument == t)
        text += (text.empty() ? "" : " ") + std::string(token);
    }
    return text;
  }

  // A type that is spelled in a function, which may be a parameter of that.
  std::string Known(const std::string& spelled, int function, int depth) const {
    if (function >= 0) {
      const auto& parameters = FunctionOf(function).template_parameters;
      const auto same = [&](const TemplateParameter& one) { return one.is_type && one.name == spelled; };
      const auto found = std::find_if(parameters.begin(), parameters.end(), same);
      if (found != parameters.end()) return Argument(function, static_cast<std::size_t>(found - parameters.begin()), depth + 1);
    }
    return CanonicalType(program_, spelled);
  }

  std::string Deduced(const HostCall& call, const ProgramFunction& called, std::size_t t, int depth) const {
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      const std::string& wanted = called.parameters[i].type;
      if (!PlaceOf(wanted, t) || !IsPointerType(wanted)) continue;
      const HostCode::Pointer passed = host_.Origin(call.arguments[i], call.function);
      for (const ProgramVariable& variable : program_.variables()) {
        if (variable.name != passed.name || variable.function != passed.function || !IsPointerType(variable.type)) continue;
        const std::string type = Within(PointedType(variable.type), variable.function, depth);
        if (!HasTypeParameter(type)) return type;
      }
    }
    return "";
  }

  const SourceProgram& program_;
  const HostCode& host_;
};

}  // namespace

std::string HostTypeArgument(const SourceProgram& program, const HostCode& host, int function, std::size_t t) {
  return HostTypes(program, host).Argument(function, t, 0);
}

std::string WithHostTypes(const SourceProgram& program, const HostCode& host, std::string type, int function) {
  return HostTypes(program, host).Within(std::move(type), function, 0);
}

}  // namespace evo
