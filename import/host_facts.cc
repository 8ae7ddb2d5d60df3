#include "import/host_facts.h"

#include <algorithm>
#include <map>

#include "import/element_type.h"

namespace evo {
namespace {

// What a large GPU answers: how many blocks are launched is a number of the task. Fields of cudaDeviceProp.
const std::map<std::string, std::int64_t, std::less<>> kDeviceProperties{
    {"multiProcessorCount", 132}, {"maxThreadsPerMultiProcessor", 2048}, {"maxThreadsPerBlock", 1024}, {"warpSize", 32}};
constexpr std::int64_t kActiveBlocks = 8;  // of a multiprocessor

constexpr std::int64_t kUsualBlock = 256;  // what the runtime suggests most often

}  // namespace

std::optional<std::int64_t> DeviceProperty(std::string_view field) {
  const auto found = kDeviceProperties.find(field);
  return found == kDeviceProperties.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::int64_t> AnswerOfDevice(const SourceProgram& program, const HostCalls& calls, const std::string& variable,
                                           int function) {
  for (const HostCall& call : calls.calls()) {
    if (call.function != function || call.arguments.size() < 2) continue;
    if (program.Text(call.arguments[0]) != "&" + variable) continue;
    if (call.name.starts_with("cudaOccupancyMaxPotentialBlockSize"))
      return kDeviceProperties.at("multiProcessorCount") * kActiveBlocks;
    const std::string_view asked = program.Text(call.arguments[1]);
    if (call.name == "cudaDeviceGetAttribute" && asked.ends_with("MultiProcessorCount"))
      return kDeviceProperties.at("multiProcessorCount");
    if (call.name == "cudaOccupancyMaxActiveBlocksPerMultiprocessor") return kActiveBlocks;
  }
  return std::nullopt;
}

bool IsGrid(const SourceProgram& program, const HostCalls& calls, const std::string& name, int function) {
  return std::any_of(calls.launches().begin(), calls.launches().end(), [&](const HostLaunch& launch) {
    return launch.function == function && !launch.configuration.empty() && program.Text(launch.configuration[0]) == name;
  });
}

bool HasMembers(const SourceProgram& program, const std::string& parameter, int function) {
  if (function < 0) return false;
  const auto& parameters = program.functions()[static_cast<std::size_t>(function)].parameters;
  return std::any_of(parameters.begin(), parameters.end(), [&](const ProgramParameter& one) {
    return one.name == parameter &&
           (one.type.find("dim3") != std::string::npos || !FieldsOf(program, PointedType(one.type)).empty());
  });
}

std::optional<std::int64_t> SuggestedBlock(const SourceProgram& program, const HostCalls& calls, const std::string& variable,
                                           int function) {
  for (const HostCall& call : calls.calls()) {
    if (call.function != function || !call.name.starts_with("cudaOccupancyMaxPotentialBlockSize") || call.arguments.size() < 2)
      continue;
    if (program.Text(call.arguments[1]) == "&" + variable) return kUsualBlock;
  }
  return std::nullopt;
}

std::vector<SourceRange> ListOf(const SourceProgram& program, const HostCalls& calls, const SourceRange& element, int function) {
  const HostExpression written = ParseHostExpression(program.Tokens(element));
  if (written.kind != HostExpression::Kind::kIndex || written.parts[0].kind != HostExpression::Kind::kName) return {};
  if (written.parts[1].kind == HostExpression::Kind::kNumber) return {};
  return ListNamed(program, calls, written.parts[0].text, function);
}

std::vector<SourceRange> ListNamed(const SourceProgram& program, const HostCalls& calls, const std::string& name, int function) {
  const ProgramVariable* const list = program.FindVariable(name, function);
  if (list == nullptr || list->initialiser.size() == 0 || list->type.find('*') != std::string::npos) return {};
  std::size_t open = program.TokenAt(list->initialiser.begin);
  if (program.Token(open) == "=") ++open;
  return program.Token(open) == "{" ? calls.Split(open, program.AfterBracket(open) - 1) : std::vector<SourceRange>{};
}

std::vector<SourceRange> ElementsOfRange(const SourceProgram& program, const HostCalls& calls, const ProgramVariable& variable,
                                         int function) {
  if (variable.initialiser.size() > 0) return {};
  std::size_t at = program.TokenAt(program.tree().node(variable.node).range.begin);
  while (at < program.tokens().size() && program.Token(at) != variable.name) ++at;
  if (program.Token(at + 1) != ":" || !IsWord(program.Token(at + 2))) return {};
  return ListNamed(program, calls, std::string(program.Token(at + 2)), function);
}

std::optional<HostExpression> DefaultAmong(const HostExpression& call) {
  const bool of_command_line =
      std::any_of(call.parts.begin(), call.parts.end(), [](const auto& part) { return part.Is("argv"); });
  if (!of_command_line || call.parts.empty() || !ValueOf(call.parts.back(), {})) return std::nullopt;
  return Simplified(call.parts.back());
}

std::optional<HostExpression> EnumeratorOf(const SourceProgram& program, std::string_view name) {
  for (std::size_t at = 0; at < program.tokens().size(); ++at) {
    if (program.Token(at) != "enum") continue;
    std::size_t next = at + 1;
    if (program.Token(next) == "class" || program.Token(next) == "struct") continue;  // which are no numbers
    while (IsWord(program.Token(next)) || program.Token(next) == ":" || program.Token(next) == "::") ++next;
    if (program.Token(next) != "{") continue;
    const std::size_t end = program.AfterBracket(next) - 1;
    std::int64_t value = -1;
    for (++next; next < end; ++next) {  // the comma behind it
      const std::string_view one = program.Token(next);
      std::size_t behind = next + 1;
      while (behind < end && program.Token(behind) != ",") ++behind;
      std::optional<Number> written = Number::Integer(value + 1);
      if (program.Token(next + 1) == "=" && behind > next + 2) {
        const SourceRange range{program.tokens()[next + 2].begin, program.tokens()[behind - 1].end};
        written = ValueOf(Simplified(ParseHostExpression(program.Tokens(range))), {});
      }
      if (!written || written->is_real) break;
      value = written->integer;
      if (one == name) return HostExpression::Integer(value);
      next = behind;
    }
    at = end;
  }
  return std::nullopt;
}

std::optional<bool> AreSameEnumerator(const SourceProgram& program, const HostExpression& comparison) {
  if (comparison.kind != HostExpression::Kind::kBinary || (!comparison.Is("==") && !comparison.Is("!="))) return std::nullopt;
  std::string sides[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const HostExpression& side = comparison.parts[i];
    if (side.kind != HostExpression::Kind::kName) return std::nullopt;
    sides[i] = side.text.substr(side.text.rfind(':') == std::string::npos ? 0 : side.text.rfind(':') + 1);
    const auto& nodes = program.tree().nodes();
    const bool enumerator = std::any_of(nodes.begin(), nodes.end(), [&](const SyntaxNode& node) {
      return node.kind_name == "EnumConstantDecl" && node.name == sides[i];
    });
    if (!enumerator) return std::nullopt;
  }
  return (sides[0] == sides[1]) == comparison.Is("==");
}

bool IsCountedUp(const SourceProgram& program, std::string_view variable, int function) {
  if (function < 0) return false;
  const auto tokens = program.Tokens(program.functions()[static_cast<std::size_t>(function)].body);
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
    if (tokens[i] == variable && (tokens[i + 1] == "++" || tokens[i + 1] == "+=" || tokens[i - 1] == "++")) return true;
  }
  return false;
}

std::optional<SourceRange> ConditionOfIncrement(const SourceProgram& program, const ProgramVariable& variable) {
  if (variable.function < 0) return std::nullopt;
  const SourceRange& body = program.functions()[static_cast<std::size_t>(variable.function)].body;
  const auto& tokens = program.tokens();
  for (std::size_t at = program.TokenAt(program.tree().node(variable.node).range.end); at + 4 < tokens.size(); ++at) {
    if (tokens[at].begin >= body.end) break;
    if (program.Token(at) != "if" || program.Token(at + 1) != "(") continue;
    const std::size_t end = program.AfterBracket(at + 1);
    std::size_t first = end;
    if (program.Token(first) == "{") ++first;
    std::string statement;
    for (std::size_t i = first; i < first + 6 && program.Token(i) != ";"; ++i) statement += program.Token(i);
    const std::string& name = variable.name;
    const bool adds = statement == name + "++" || statement == "++" + name || statement == name + "+=1" ||
                      statement == name + "=" + name + "+1";
    if (adds && end > at + 3) return SourceRange{tokens[at + 2].begin, tokens[end - 2].end};
  }
  return std::nullopt;
}

}  // namespace evo
