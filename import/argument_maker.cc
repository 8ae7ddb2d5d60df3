#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "import/device_text.h"
#include "import/draft_parts.h"

namespace evo {
namespace {

using Kind = HostExpression::Kind;
using Pointer = HostCode::Pointer;

std::string RoleReason(const DraftBuffer& buffer, const std::string& role) {
  if (!buffer.use.written) return "the kernels only read it";
  if (role == "workspace" && !buffer.use.read) return "a kernel writes it, and nothing reads it";
  if (role == "workspace" && !buffer.bytes)
    return "a kernel writes it and a later one reads it; whether the caller reads it, too, the host code does not say";
  if (role == "workspace") return "a kernel writes it, a later one reads it, and the host does not copy it";
  if (buffer.use.atomic) return "atomic functions write it";
  if (buffer.use.partial && !buffer.use.read) return "the kernels write only a part of it, it seems";
  return buffer.use.read ? "the kernels read and write it" : "the kernels only write it";
}

// At commas outside of parentheses.
std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else if (c != ' ' || !parts.back().empty()) {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

void ArgumentMaker::AddArgument(const DraftBuffer& buffer) {
  const auto element = ElementTypeOf(c_.program, buffer.type);
  DraftArgument argument;
  argument.name = buffer.name;
  argument.dtype = element ? element->dtype : "f32";
  if (!element || c_.answers.Given(buffer.name + ".dtype"))
    argument.dtype =
        c_.answers.Ask(buffer.name + ".dtype", argument.dtype, fmt::format("its elements are of type {}", buffer.type), !element);
  const std::string role = buffers_.Role(buffer);
  argument.role = c_.answers.Ask(buffer.name + ".role", role, RoleReason(buffer, role), role == "workspace" && !buffer.bytes);
  bool known = false;
  const auto shape = buffers_.Shape(buffer, element.value_or(ElementType{argument.dtype, 1}), known);
  const std::string answer =
      c_.answers.Ask(buffer.name + ".shape", fmt::format("{}", fmt::join(shape, ", ")),
                     known ? "from what the host allocates" : "the host code does not say how much it allocates", !known);
  argument.shape = Split(answer);
  if (argument.role == "workspace") {
    c_.draft.workspaces.push_back(fmt::format("{} {} [{}]", argument.name, argument.dtype, fmt::join(argument.shape, ", ")));
    return;
  }
  argument.generators = Generators(buffer, argument);
  if (const auto given = c_.answers.Given(buffer.name + ".generators")) argument.generators = Split(*given);
  argument.check = Check(argument, buffer.use.atomic);
  if (argument.role == "out" || argument.role == "inout") argument.counted = buffers_.Counted(buffer);
  if (const auto given = c_.answers.Given(buffer.name + ".counted")) argument.counted = *given == "all" ? "" : *given;
  if (buffer.use.atomic && argument.check != "\"exact\"") c_.draft.tolerance = true;
  c_.draft.arguments.push_back(std::move(argument));
}

std::vector<std::string> ArgumentMaker::Generators(const DraftBuffer& buffer, const DraftArgument& argument) {
  if (argument.dtype[0] == 'f' || argument.dtype[0] == 'b') {
    if (!buffer.use.nonnegative) return {"normal", "uniform(0,1)", "one_hot"};
    c_.draft.notes.push_back(fmt::format("{} has no negative numbers: the kernels take its root or logarithm", buffer.name));
    return {"uniform(0,1)", "one_hot"};
  }
  for (const std::string& indexed : buffer.use.indexes) {
    const auto found =
        std::find_if(buffers_.all().begin(), buffers_.all().end(), [&](const DraftBuffer& one) { return one.name == indexed; });
    if (found == buffers_.all().end()) continue;
    bool known = false;
    const auto shape = buffers_.Shape(*found, ElementTypeOf(c_.program, found->type).value_or(ElementType{"f32", 1}), known);
    const std::string& length = buffer.use.columns.contains(indexed) ? shape.back() : shape.front();
    const std::string bound =
        c_.answers.Ask(buffer.name + ".bound", length, fmt::format("its values are subscripts of {}", indexed), true);
    return {"index<" + bound};
  }
  const std::string most = argument.dtype == "i8"   ? "128"
                           : argument.dtype == "u8" ? (buffer.type == "bool" ? "2" : "256")
                                                    : "100";
  return {"index<" + c_.answers.Ask(buffer.name + ".bound", most, "its values are 0 to this number less one")};
}

// How many terms one element of an output has: what the kernels' loops say, else the sizes that its shape lacks.
std::string ArgumentMaker::Terms(const DraftArgument& argument, bool atomic) const {
  if (atomic) return LongestShape(false);  // every element of the largest input may go to one of the output
  if (!c_.draft.terms.empty()) return c_.draft.terms;
  const bool adds = std::any_of(c_.launches.begin(), c_.launches.end(), [](const auto& one) { return one.use.accumulates; });
  if (!adds) return "1";
  std::string terms;
  int factors = 0;
  for (const DraftSize& size : c_.draft.sizes) {
    const bool in_shape = std::any_of(argument.shape.begin(), argument.shape.end(), [&](const std::string& dimension) {
      const auto tokens = SpelledTokens(dimension);
      return std::find(tokens.begin(), tokens.end(), size.name) != tokens.end();
    });
    if (in_shape) continue;
    terms += (terms.empty() ? "" : " * ") + size.name;
    ++factors;
  }
  if (terms.empty()) return argument.shape.back();
  // Sizes of one another, such as a length and the elements of all of them, are no factors: each input is read once for an
  // element.
  const std::string most = factors > 1 ? LongestShape(true) : "";
  return most.empty() ? terms : fmt::format("min({}, {})", terms, most);
}

// The elements of the buffer, or of the input, with the longest shape; empty if there is none.
std::string ArgumentMaker::LongestShape(bool of_inputs) const {
  std::string most;
  for (const DraftBuffer& buffer : buffers_.all()) {
    if (of_inputs && buffer.use.written) continue;
    bool known = false;
    const auto shape = buffers_.Shape(buffer, ElementTypeOf(c_.program, buffer.type).value_or(ElementType{"f32", 1}), known);
    const std::string product = fmt::format("{}", fmt::join(shape, " * "));
    if (product.size() > most.size()) most = product;
  }
  return most;
}

std::string ArgumentMaker::Check(const DraftArgument& argument, bool atomic) {
  if (argument.role == "in") return "";
  if (argument.dtype[0] != 'f' && argument.dtype[0] != 'b') return "\"exact\"";
  bool functions = false;
  for (const TakenLaunch& one : c_.launches) functions = functions || one.use.transcendental;
  std::string terms = Terms(argument, atomic);
  terms = c_.answers.Ask(argument.name + ".sum", terms,
                         "how many terms are added up for one element, which sets the permitted error");
  std::string json = fmt::format("{{\"sum\": \"{}\"", terms);
  if (argument.dtype == "f64") json += ", \"accumulator\": \"f64\"";
  if (functions) json += ", \"ulps\": 64";
  return json + "}";
}

// __constant__ variables, which the host fills.
void ArgumentMaker::AddConstants() {
  for (const std::string& symbol : c_.device.constants) {
    const auto variable = std::find_if(c_.program.variables().begin(), c_.program.variables().end(),
                                       [&](const ProgramVariable& one) { return one.name == symbol && one.function < 0; });
    if (variable == c_.program.variables().end() || variable->initialiser.size() > 0) continue;
    const auto element = ElementTypeOf(c_.program, PointedType(variable->type));
    DraftArgument argument;
    argument.name = buffers_.FreshName(symbol + "_values");
    argument.dtype = element ? element->dtype : "f32";
    argument.role = "in";
    const std::size_t open = variable->type.find('[');
    if (open == std::string::npos && element && element->count == 1) {
      c_.draft.arguments.push_back({argument.name, "scalar", argument.dtype, {}, {}, argument.dtype[0] == 'f' ? "1.5" : "1", ""});
      c_.answers.Ask(argument.name, "1", fmt::format("the value of __constant__ {}", symbol), true);
    } else {
      for (std::size_t at = open; at != std::string::npos; at = variable->type.find('[', at + 1))
        argument.shape.push_back(std::to_string(std::atoll(variable->type.c_str() + at + 1)));
      if (argument.shape.empty()) argument.shape.push_back("1");
      if (element && element->count > 1) argument.shape.push_back(std::to_string(element->count));
      argument.generators = argument.dtype[0] == 'f' || argument.dtype[0] == 'b'
                                ? std::vector<std::string>{"normal", "uniform(0,1)"}
                                : std::vector<std::string>{"index<100"};
      c_.draft.arguments.push_back(argument);
    }
    c_.draft.constants.push_back(fmt::format("{} = {}", symbol, argument.name));
    c_.draft.notes.push_back(fmt::format("{} fills the __constant__ variable {}", argument.name, symbol));
  }
  for (const std::string& symbol : c_.device.globals)
    c_.draft.notes.push_back(fmt::format("not known: what the __device__ variable {} holds; evo does not fill it", symbol));
}

}  // namespace evo
