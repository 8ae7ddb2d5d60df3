#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "import/device_text.h"
#include "import/draft_parts.h"

namespace evo {
namespace {

using Kind = HostExpression::Kind;
using Pointer = HostCode::Pointer;

// Whether launches of one kernel differ in what they pass here, which is zero in this one: what fills a buffer with zeros and
// another with something else is no scalar of the task.
bool IsZeroOfOne(const std::vector<TakenLaunch>& launches, const TakenLaunch& one, const std::string& parameter) {
  const auto passed = [&](const TakenLaunch& launch) {
    const auto value = launch.values.find(parameter);
    return value == launch.values.end() ? HostExpression::Name("unknown") : Simplified(value->second);
  };
  const HostExpression value = passed(one);
  return value.kind == Kind::kNumber && value.number.AsReal() == 0 &&
         std::any_of(launches.begin(), launches.end(), [&](const TakenLaunch& other) {
           return other.kernel == one.kernel && passed(other).Text() != value.Text();
         });
}

}  // namespace

// One kernel argument that is no buffer.
std::string LaunchWriter::ScalarText(const TakenLaunch& one, std::size_t index) {
  const ProgramParameter& parameter = one.kernel->parameters[index];
  const std::string type = PointedType(one.types[index]);
  const auto value = one.values.find(parameter.name);
  const std::optional<HostExpression> expression = value == one.values.end() ? std::nullopt : std::optional(value->second);
  const auto element = ElementTypeOf(c_.program, type);
  if (!FieldsOf(c_.program, type).empty()) return StructText(one, index, type);
  if (HasOnlyFunctions(c_.program, type)) return "{u8(0)}";  // it takes a byte
  const bool real = element && element->count == 1 && (element->dtype == "f32" || element->dtype == "f64");
  if (real && IsZeroOfOne(c_.launches, one, parameter.name)) return fmt::format("{}(0)", element->dtype);
  if (real) return RealScalar(parameter.name, element->dtype, expression);
  const ParameterUse& use = one.use.parameters.at(parameter.name);
  const std::string text = IntegerText(parameter.name, expression, use.guarded);
  if (type == "int" || !element) {
    if (!element) c_.draft.notes.push_back(fmt::format("not known: how to pass {}, of type {}", parameter.name, type));
    return text;
  }
  return fmt::format("{}({})", type == "bool" ? "bool" : element->dtype, text);
}

std::string LaunchWriter::IntegerText(const std::string& name, const std::optional<HostExpression>& expression, bool guarded) {
  if (const auto given = c_.answers.Given("argument." + name)) return *given;
  if (!expression || !expression->IsKnown()) return c_.names.AddSize(name, std::nullopt, guarded, c_.draft);
  const HostExpression named = Simplified(c_.names.Named(*expression));
  if (named.kind != Kind::kNumber || !expression->Names().empty()) return named.Text();
  // A small number is a choice, and so is that of a block or a tile; a large one is a size that the host writes as a number.
  constexpr std::int64_t kSmall = 16;
  if (named.number.is_real || named.number.integer <= kSmall || LooksTunable(name)) {
    c_.draft.notes.push_back(fmt::format("the host passes {} = {}, and so does the task", name, named.Text()));
    return named.Text();
  }
  return c_.names.AddSize(name, named.number.integer, guarded, c_.draft);
}

std::string LaunchWriter::RealScalar(const std::string& name, const std::string& dtype,
                                     const std::optional<HostExpression>& expression) {
  DraftArgument argument;
  argument.name = buffers_.FreshName(name);
  argument.role = "scalar";
  argument.dtype = dtype;
  std::string guess = "1.5";
  bool known = false;
  if (expression) {
    const HostExpression named = c_.names.InSizes(*expression, c_.draft);
    const auto names = named.Names();
    const bool of_sizes = std::all_of(names.begin(), names.end(), [&](const auto& one) { return c_.names.IsSize(one); });
    if (named.IsKnown() && of_sizes) {
      guess = named.Text();
      known = true;
    } else if (const auto number = ValueOf(named, c_.host.Values())) {
      guess = fmt::format("{}", number->AsReal());
      known = true;
    }
  }
  argument.value = c_.answers.Ask(
      argument.name, guess, known ? "a scalar, as the host has it" : "a scalar whose value the host code does not say", !known);
  c_.draft.arguments.push_back(argument);
  return argument.name;
}

// {ARG, ARG, ..}: fields that are pointers become buffers, real ones scalars.
std::string LaunchWriter::StructText(const TakenLaunch& one, std::size_t index, const std::string& type) {
  std::vector<std::string> parts;
  const std::string& parameter = one.kernel->parameters[index].name;
  for (const ProgramParameter& field : FlatFieldsOf(c_.program, type)) {
    const auto known = one.values.find(parameter + "." + field.name);
    std::optional<HostExpression> value;
    if (known != one.values.end() && known->second.IsKnown()) value = known->second;
    if (IsPointerType(field.type)) {
      parts.push_back(buffers_.NameOfField(one, index, field));
      continue;
    }
    const auto element = ElementTypeOf(c_.program, PointedType(field.type));
    if (element && (element->dtype == "f32" || element->dtype == "f64") && element->count == 1) {
      std::string name = parameter + "_" + field.name;
      std::replace(name.begin(), name.end(), '.', '_');
      parts.push_back(RealScalar(name, element->dtype, value));
      continue;
    }
    const std::string text = IntegerText(field.name.substr(field.name.rfind('.') + 1), value, true);
    parts.push_back(!element || element->dtype == "i32" ? text : fmt::format("{}({})", element->dtype, text));
  }
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

std::string LaunchWriter::TemplateText(const TakenLaunch& one) const {
  const auto& parameters = one.kernel->template_parameters;
  std::vector<std::string> parts;
  for (std::size_t t = 0; t < parameters.size(); ++t) {
    if (parameters[t].is_type) {
      parts.push_back(one.type_arguments[t]);
      continue;
    }
    if (t >= one.template_values.size()) break;  // it has a default
    HostExpression value = c_.names.Named(WithSizesOfTypes(one.template_values[t], one));
    // A number that the host keeps equal to a variable of the same name: `if (block_size == 16) k<16><<<..`.
    const auto plain = [](const std::string& name) {
      std::string result;
      for (const char c : name) {
        if (c != '_') result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      }
      return result.starts_with("launch") ? result.substr(6) : result;
    };
    for (const DraftParameter& parameter : c_.draft.parameters) {
      if (value.kind == Kind::kNumber && plain(parameter.name) == plain(parameters[t].name) &&
          parameter.value == value.number.integer)
        value = HostExpression::Name(parameter.name);
    }
    value = Replaced(value, [&](const HostExpression& part) -> std::optional<HostExpression> {
      for (const DraftSize& size : c_.draft.sizes) {
        if (part.kind == Kind::kName && part.text == size.name && !size.compiled.empty())
          return HostExpression::Name(size.compiled);
      }
      return std::nullopt;
    });
    parts.push_back(value.Text());
  }
  return parts.empty() ? "" : fmt::format("<{}>", fmt::join(parts, ", "));
}

// What the kernel compares the index with that it makes of `blockIdx` along an axis, as the host passes it; empty if that is not
// clear.
std::string LaunchWriter::BoundOfAxis(const TakenLaunch& one, char axis) const {
  const auto tokens = c_.program.Tokens(one.kernel->body);
  std::set<std::string_view> indices;
  std::set<std::string> bounds;
  std::string_view declared;
  for (std::size_t i = 1; i + 2 < tokens.size(); ++i) {
    if (tokens[i] == "=") declared = tokens[i - 1];
    if (tokens[i] == ";") declared = "";
    const bool block = tokens[i] == "blockIdx" && tokens[i + 1] == "." && tokens[i + 2] == std::string_view(&axis, 1);
    if (block && !declared.empty()) indices.insert(declared);
    if (!indices.contains(tokens[i]) || (tokens[i + 1] != "<" && tokens[i + 1] != ">=")) continue;
    const auto value = one.values.find(std::string(tokens[i + 2]));
    if (value != one.values.end() && value->second.IsKnown()) bounds.insert(c_.names.Text(value->second));
  }
  return bounds.size() == 1 ? *bounds.begin() : "";
}

// Of a grid that the host has as a number, `dim3 grid(32, 32)` with blocks of 32 by 32 for 1024 by 1024 elements: that many
// blocks for other sizes, too. Which size it is has to be clear.
std::vector<HostExpression> LaunchWriter::GridOf(const TakenLaunch& one) {
  constexpr std::int64_t kFewThreads = 64;
  std::vector<HostExpression> grid = one.grid;
  const auto body = c_.program.Tokens(one.kernel->body);
  if (std::find(body.begin(), body.end(), "gridDim") != body.end()) return grid;
  for (std::size_t axis = 0; axis < grid.size() && axis < one.block.size(); ++axis) {
    const auto blocks = grid[axis].IsKnown() ? ValueOf(grid[axis], {}) : std::nullopt;
    const auto threads = one.block[axis].IsKnown() ? ValueOf(one.block[axis], c_.host.Values()) : std::nullopt;
    if (!blocks || !threads || blocks->is_real || threads->is_real || blocks->integer < 2) continue;
    const std::int64_t all = blocks->integer * threads->integer;
    const auto& sizes = c_.draft.sizes;
    const auto is_it = [&](const DraftSize& size) { return size.known && size.value == all; };
    auto found = std::find_if(sizes.begin(), sizes.end(), is_it);
    if (all < kFewThreads || found == sizes.end()) continue;
    if (std::find_if(found + 1, sizes.end(), is_it) != sizes.end()) {
      const std::string bound = BoundOfAxis(one, "xyz"[axis]);
      found = std::find_if(sizes.begin(), sizes.end(), [&](const DraftSize& size) { return is_it(size) && size.name == bound; });
      if (found == sizes.end()) continue;
    }
    grid[axis] = HostExpression::Call("ceil_div", {HostExpression::Name(found->name), one.block[axis]});
    c_.draft.notes.push_back(fmt::format("the grid of {} grows with {}: the host has {} blocks, as many as {} elements need",
                                         one.kernel->name, found->name, blocks->integer, all));
  }
  return grid;
}

std::string LaunchWriter::Dimensions(const std::vector<HostExpression>& parts, const std::string& key,
                                     const std::string& fallback, const TakenLaunch& one) {
  std::vector<std::string> texts;
  bool known = !parts.empty();
  for (const HostExpression& part : parts) {
    known = known && part.IsKnown();
    texts.push_back(c_.names.Text(part));
  }
  while (texts.size() > 1 && texts.back() == "1") texts.pop_back();
  if (const auto given = c_.answers.Given(key)) return *given;
  if (known) return fmt::format("{}", fmt::join(texts, ", "));
  return c_.answers.Ask(key, fallback, fmt::format("how {} is launched, which the host code does not say", one.kernel->name),
                        true);
}

std::string LaunchWriter::LaunchLine(const TakenLaunch& one) {
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < one.kernel->parameters.size(); ++i)
    arguments.push_back(IsPointerType(one.types[i]) ? buffers_.NameAt(one, i) : ScalarText(one, i));
  const std::string text(c_.program.Text(one.kernel->body));
  const bool flat = text.find("threadIdx.y") == std::string::npos;
  const std::string first = c_.draft.sizes.empty() ? "1024" : c_.draft.sizes[0].name;
  const std::string second = c_.draft.sizes.size() > 1 ? c_.draft.sizes[1].name : first;
  const std::string block = Dimensions(one.block, "block", flat ? "256" : "16, 16", one);
  const std::string grid = Dimensions(
      GridOf(one), "grid",
      flat ? fmt::format("ceil_div({}, 256)", first) : fmt::format("ceil_div({}, 16), ceil_div({}, 16)", second, first), one);
  std::string line = fmt::format("{}{}({}) grid({}) block({})", one.kernel->qualified, TemplateText(one),
                                 fmt::join(arguments, ", "), grid, block);
  const std::optional<HostExpression> bytes = one.shared ? std::optional(WithSizesOfTypes(*one.shared, one)) : std::nullopt;
  std::string shared = bytes && bytes->IsKnown() ? c_.names.Text(*bytes) : "0";
  if (one.shared && !one.shared->IsKnown())
    shared =
        c_.answers.Ask("shared", "0", fmt::format("bytes of dynamic shared memory: the host says {}", one.shared->Text()), true);
  if (const auto given = c_.answers.Given("shared")) shared = *given;
  if (shared != "0") line += fmt::format(" shared({})", shared);
  if (one.launch != nullptr && one.launch->cooperative) line += " cooperative";
  return line;
}

// `sizeof(T)` as a number, where T is a type of the program or one that a template gets.
HostExpression LaunchWriter::WithSizesOfTypes(const HostExpression& expression, const TakenLaunch& one) const {
  constexpr std::string_view kSizeOf = "sizeof ";
  return Simplified(Replaced(expression, [&](const HostExpression& part) -> std::optional<HostExpression> {
    if (part.kind != Kind::kName || !part.text.starts_with(kSizeOf)) return std::nullopt;
    const std::string type = part.text.substr(kSizeOf.size());
    if (const int bytes = SizeOfType(CanonicalType(c_.program, type)); bytes > 0) return HostExpression::Integer(bytes);
    const auto& parameters = one.kernel->template_parameters;
    const auto is_type = [](const TemplateParameter& parameter) { return parameter.is_type; };
    const auto found = std::find_if(parameters.begin(), parameters.end(), is_type);
    if (found == parameters.end()) return std::nullopt;
    const int bytes = SizeOfType(one.type_arguments[static_cast<std::size_t>(found - parameters.begin())]);
    return bytes > 0 ? std::optional(HostExpression::Integer(bytes)) : std::nullopt;
  }));
}

void LaunchWriter::AddSteps(const std::vector<std::string>& lines) {
  for (const DraftBuffer& buffer : buffers_.all()) {
    const auto byte = buffers_.Memset(buffer);
    const bool scratch = buffers_.Role(buffer) == "workspace";
    const auto argument = std::find_if(c_.draft.arguments.begin(), c_.draft.arguments.end(),
                                       [&](const auto& one) { return one.name == buffer.name; });
    if (byte && (argument == c_.draft.arguments.end() ? scratch : argument->role == "out"))
      c_.draft.steps.push_back(fmt::format("memset {} {}", buffer.name, *byte));
  }
  std::vector<std::size_t> open;  // loops, the outermost first
  const auto close = [&](std::size_t kept) {
    for (; open.size() > kept; open.pop_back()) {
      for (const auto& [a, b] : c_.loops[open.back()].swaps) {
        const std::string first = buffers_.NameOf(a), second = buffers_.NameOf(b);
        if (!first.empty() && !second.empty()) c_.draft.steps.push_back(fmt::format("swap {} {}", first, second));
      }
      c_.draft.steps.push_back("end");
    }
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::vector<std::size_t>& loops = c_.launches[i].loops;
    close(static_cast<std::size_t>(std::mismatch(open.begin(), open.end(), loops.begin(), loops.end()).first - open.begin()));
    for (std::size_t l = open.size(); l < loops.size(); ++l) {
      open.push_back(loops[l]);
      c_.draft.steps.push_back(fmt::format("repeat {} < {}", c_.loops[loops[l]].step, c_.draft.repeats[loops[l]]));
    }
    c_.draft.steps.push_back("launch " + lines[i]);
  }
  close(0);
}

}  // namespace evo
