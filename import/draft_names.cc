#include "import/draft_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <regex>

#include "core/error.h"
#include "import/size_roles.h"

namespace evo {
namespace {

using Kind = HostExpression::Kind;

constexpr std::int64_t kSmallConstant = 64;     // such as a radius or a number of steps
constexpr std::int64_t kDeviceLimit = 1 << 30;  // a limit of the device, such as the largest grid
constexpr std::int64_t kMostConstant = 1024;    // of what is compiled into kernels that have sizes besides
constexpr std::int64_t kMostCompiled = 256;     // of a template's numbers by which threads have arrays, such as a head's elements

std::string Upper(std::string name) {
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::optional<std::int64_t> ToInteger(const std::string& text) {
  const auto value = ValueOf(Simplified(ParseHostExpression(SpelledTokens(text))), {});
  if (!value || value->is_real) return std::nullopt;
  return value->integer;
}

// Powers of two around a value, none greater than `most` but the value itself.
std::vector<std::int64_t> Around(std::int64_t value, std::int64_t most) {
  std::vector<std::int64_t> values;
  for (std::int64_t one = std::max<std::int64_t>(1, value / 4); one <= std::max(value, std::min(most, value * 4)); one *= 2) {
    if (value % one == 0 || one % value == 0) values.push_back(one);
  }
  if (std::find(values.begin(), values.end(), value) != values.end()) return values;
  values = {value};
  if (value % 2 == 0) values.insert(values.begin(), value / 2);
  if (value * 2 <= most) values.push_back(value * 2);
  return values;
}

void Collect(const HostExpression& expression, std::set<std::string>& names) {
  for (std::string& name : expression.Names()) names.insert(std::move(name));
}

// Whether some kernel gets a number for a parameter of its template.
bool IsGivenToTemplates(const std::vector<TakenLaunch>& launches, const std::string& label) {
  return std::any_of(launches.begin(), launches.end(), [&](const TakenLaunch& one) {
    std::set<std::string> names;
    for (std::size_t t = 0; t < one.template_values.size() && t < one.kernel->template_parameters.size(); ++t) {
      if (!one.kernel->template_parameters[t].is_type) Collect(one.template_values[t], names);
    }
    return names.contains(label);
  });
}

}  // namespace

bool LooksTunable(const std::string& name) {
  static const std::regex kTunable(R"(.*(BLOCK|TILE|THREAD|UNROLL|WARPS|ITEMS|CHUNK|COARSE|STEPS|VECTOR_?SIZE|VEC_?SIZE|PER_).*|)"
                                   R"((B|T|W|BLK|TPB|BDIM|WG)_?(M|N|K|X|Y|Z|S|SIZE)?|B[MNK]|T[MNK]|TPB|BS|BSIZE|NT|NTHREADS)",
                                   std::regex::icase);
  static const std::regex kNot(R"(.*(NUM_?BLOCK|N_?BLOCKS|TIMESTEPS|NUM_?STEPS|N_?STEPS).*|B|T|W|N|K)", std::regex::icase);
  return std::regex_match(name, kTunable) && !std::regex_match(name, kNot);
}

DraftNames::DraftNames(const SourceProgram& program, HostCode& host, const std::vector<TakenLaunch>& launches,
                       const std::vector<TakenLoop>& loops, const DeviceText& device, Answers& answers)
    : program_(program), host_(host), launches_(launches), loops_(loops), device_(device), answers_(answers) {}

HostExpression DraftNames::Named(const HostExpression& expression) const {
  return Replaced(Unpadded(expression), [&](const HostExpression& part) -> std::optional<HostExpression> {
    if (part.kind != Kind::kName) return std::nullopt;
    if (const auto constant = constants_.find(part.text); constant != constants_.end())
      return HostExpression::Integer(constant->second);
    const auto found = names_.find(part.text);
    if (found == names_.end()) return std::nullopt;
    return HostExpression::Name(found->second);
  });
}

std::string DraftNames::Text(const HostExpression& expression) const { return Simplified(Named(expression)).Text(); }

HostExpression DraftNames::InSizes(const HostExpression& expression, const TaskDraft& draft) const {
  return Simplified(Replaced(Named(expression), [&](const HostExpression& part) -> std::optional<HostExpression> {
    if (part.kind != Kind::kName || IsSize(part.text)) return std::nullopt;
    for (const DraftParameter& parameter : draft.parameters) {
      if (parameter.name == part.text) return HostExpression::Integer(parameter.value);
    }
    const auto leaf = host_.leaves().find(part.text);
    if (leaf == host_.leaves().end() || !leaf->second.value) return std::nullopt;
    return HostExpression{Kind::kNumber, "", *leaf->second.value, {}};
  }));
}

bool DraftNames::IsSize(const std::string& name) const { return sizes_.contains(name); }

// A number that is no choice of the user's: a warp's width, a radius, a count of bins that is compiled into the kernels.
bool DraftNames::IsConstant(const std::string& label, const std::set<std::string>& in_blocks,
                            const std::set<std::string>& of_arguments, bool other_sizes) const {
  static const std::regex kHardware(R"(.*LOG_?2.*|.*WARP_?(SIZE|LEN|WIDTH)|.*LOG_?WARP.*)", std::regex::icase);
  const auto found = host_.leaves().find(label);
  if (found == host_.leaves().end() || !found->second.value || found->second.value->is_real) return false;
  const std::int64_t value = found->second.value->integer;
  if (std::regex_match(label, kHardware) || value >= kDeviceLimit) return true;
  if (found->second.origin == HostLeaf::Origin::kComponent && IsWrittenInKernels(value)) return true;
  const bool of_file =
      found->second.origin == HostLeaf::Origin::kMacro || found->second.origin == HostLeaf::Origin::kFileConstant;
  // A tile of more elements than a block may have threads: the kernels are written for it.
  if (of_file && LooksTunable(label) && value > kMostThreads && device_.words.contains(label)) return true;
  const bool decides = of_arguments.contains(label) && device_.words.contains(label) && !in_blocks.contains(label);
  if (of_file && LooksTunable(label) && value <= kSmallConstant && decides) return true;  // elements of a thread
  if (LooksTunable(label) || in_blocks.contains(label)) return false;
  if (of_file && ((other_sizes && value <= kMostConstant) || (value <= kSmallConstant && IsInSharedExtent(label)))) return true;
  return value <= kSmallConstant && !of_arguments.contains(label);
}

bool DraftNames::IsParameter(const std::string& label, const std::set<std::string>& in_blocks,
                             const std::set<std::string>& of_arguments) const {
  const auto leaf = host_.leaves().find(label);
  if (leaf != host_.leaves().end()) {
    const auto& value = leaf->second.value;
    if (leaf->second.origin == HostLeaf::Origin::kLoop) return false;
    if (value && (value->is_real || value->integer < 1 || value->integer > kMostThreads)) return false;
  }
  if (in_blocks.contains(label)) return LooksTunable(label) || !of_arguments.contains(label);
  return LooksTunable(label) && leaf != host_.leaves().end() && leaf->second.value.has_value() && !of_arguments.contains(label);
}

// What would be a parameter, but is in the shape of an argument, as where each block has a result: with another value the task
// would be another one.
bool DraftNames::DecidesAShape(const std::string& label, const std::set<std::string>& in_blocks,
                               const std::set<std::string>& of_arguments) const {
  const auto leaf = host_.leaves().find(label);
  return of_arguments.contains(label) && leaf != host_.leaves().end() && IsParameter(label, in_blocks, of_arguments) &&
         !answers_.Given(ParameterName(label) + ".values");
}

// What a parameter is called if nothing else has that name.
std::string DraftNames::ParameterName(const std::string& label) const {
  const auto leaf = host_.leaves().find(label);
  const bool of_file = leaf != host_.leaves().end() && (leaf->second.origin == HostLeaf::Origin::kMacro ||
                                                        leaf->second.origin == HostLeaf::Origin::kFileConstant);
  return of_file ? leaf->second.name : Upper(label);
}

std::int64_t DraftNames::UnknownParameter(const std::string& name, bool square) {
  const std::int64_t guess = square ? 16 : 256;
  const std::string text = answers_.Ask(name, std::to_string(guess), "a block size whose value the host code does not say", true);
  return ToInteger(text).value_or(guess);
}

void DraftNames::AddParameter(const std::string& label, TaskDraft& draft) {
  const auto leaf = host_.leaves().find(label);
  const bool of_file = leaf != host_.leaves().end() && (leaf->second.origin == HostLeaf::Origin::kMacro ||
                                                        leaf->second.origin == HostLeaf::Origin::kFileConstant);
  DraftParameter parameter;
  parameter.name = ParameterName(label);
  const bool movable = of_file && !IsNameOfDeviceCode(parameter.name);
  const auto taken = [&](const std::string& name) {
    return IsNameOfDeviceCode(name) || (!movable && device_.words.contains(name)) ||
           std::any_of(draft.parameters.begin(), draft.parameters.end(), [&](const auto& one) { return one.name == name; });
  };
  if (!movable && taken(parameter.name)) parameter.name = "LAUNCH_" + parameter.name;
  const bool known = leaf != host_.leaves().end() && leaf->second.value.has_value();
  if (known) {
    const std::int64_t guess = leaf->second.value->integer;
    const std::string text =
        answers_.Ask(parameter.name, std::to_string(guess), fmt::format("a parameter, from {}", leaf->second.place), false);
    parameter.value = ToInteger(text).value_or(guess);
  } else {
    parameter.value = UnknownParameter(parameter.name, IsSquareBlock(launches_, label));
  }
  parameter.values = Around(parameter.value, most_);
  if (const auto values = answers_.Given(parameter.name + ".values")) {
    parameter.values.clear();
    for (const std::string_view token : SpelledTokens(*values)) {
      if (const auto value = ToInteger(std::string(token))) parameter.values.push_back(*value);
    }
    if (std::find(parameter.values.begin(), parameter.values.end(), parameter.value) == parameter.values.end())
      parameter.values.push_back(parameter.value);
    std::sort(parameter.values.begin(), parameter.values.end());
  }
  if (movable) draft.moved.insert(parameter.name);
  names_[label] = parameter.name;
  draft.parameters.push_back(std::move(parameter));
}

std::string DraftNames::AddSize(const std::string& name, std::optional<std::int64_t> value, bool ragged, TaskDraft& draft) {
  std::string own = name;
  const auto taken = [&] {
    return IsPointerOfKernels(launches_, own) ||
           std::any_of(draft.parameters.begin(), draft.parameters.end(), [&](const auto& one) { return one.name == own; });
  };
  while (taken()) own += "_";
  if (sizes_.contains(own)) return own;
  const std::string answer =
      answers_.Ask(own, std::to_string(value.value_or(GuessOfSize(name, draft.exponents, draft.windows))),
                   value ? "a size, as the host has it" : "a size whose value the host code does not say", !value);
  const auto number = ToInteger(answer);
  if (!number || *number < 1) throw UsageError(fmt::format("--set {}={}: a positive number is needed", own, answer));
  DraftSize size;
  size.name = own;
  size.value = *number;
  size.known = value.has_value();
  size.ragged = ragged;
  size.exponent = draft.exponents.contains(name);
  size.given = answers_.Given(own).has_value();
  size.fixed = !value && IsHeadDepth(name);
  sizes_.insert(own);
  draft.sizes.push_back(size);
  return own;
}

void DraftNames::Decide(const Allocations& allocations, TaskDraft& draft) {
  std::set<std::string> in_blocks;
  std::set<std::string> allocated, of_arguments;
  std::vector<std::string> order;  // as they appear
  const auto note = [&](const HostExpression& expression) {
    for (const std::string& name : expression.Names()) {
      if (!name.starts_with("sizeof ") && std::find(order.begin(), order.end(), name) == order.end()) order.push_back(name);
    }
  };
  for (const HostExpression& bytes : allocations.all) {
    Collect(bytes, allocated);
    CollectWindows(bytes, draft.windows);
    CollectExponents(bytes, draft.exponents);
  }
  for (const HostExpression& bytes : allocations.of_arguments) Collect(bytes, of_arguments);
  for (const TakenLaunch& one : launches_) {
    for (std::size_t i = 0; i < one.kernel->parameters.size(); ++i) {
      const auto value = one.values.find(one.kernel->parameters[i].name);
      if (value == one.values.end() || !value->second.IsKnown()) continue;
      const std::string& type = one.types[i];
      if (type.find("float") == std::string::npos && type.find("double") == std::string::npos) note(value->second);
    }
    for (const auto& [name, value] : one.values) {
      if (name.find('.') != std::string::npos && value.IsKnown()) note(value);
    }
    for (const HostExpression& part : one.block) Collect(part, in_blocks);
    // A number that a template gets and that no block or grid names, such as a radius, is no choice of the host.
    std::set<std::string> given, of_launch = in_blocks;
    for (const HostExpression& part : one.template_values) Collect(part, given);
    for (const HostExpression& part : one.grid) Collect(part, of_launch);
    if (one.shared) Collect(*one.shared, of_launch);
    for (const std::string& name : given) {
      if (LooksTunable(name) || of_launch.contains(name)) in_blocks.insert(name);
    }
    for (const auto* list : {&one.grid, &one.block, &one.template_values}) {
      for (const HostExpression& part : *list) {
        if (part.IsKnown()) note(part);
      }
    }
    if (one.shared && one.shared->IsKnown()) note(*one.shared);
  }
  for (const HostExpression& bytes : allocations.all) note(bytes);
  for (const TakenLoop& loop : loops_) {
    if (loop.exact) note(*loop.count);
  }
  // Types given as template arguments are no numbers.
  std::erase_if(order, [&](const std::string& name) {
    const bool step = std::any_of(loops_.begin(), loops_.end(), [&](const TakenLoop& loop) { return loop.step == name; });
    return step || (!host_.leaves().contains(name) && !LooksTunable(name));
  });
  const bool other_sizes = std::any_of(order.begin(), order.end(), [&](const std::string& label) {
    const auto leaf = host_.leaves().find(label);
    if (leaf == host_.leaves().end() || LooksTunable(label) || in_blocks.contains(label)) return false;
    if (leaf->second.origin == HostLeaf::Origin::kMacro || leaf->second.origin == HostLeaf::Origin::kFileConstant) return false;
    return allocated.contains(label) || !leaf->second.value;
  });
  std::erase_if(order, [&](const std::string& label) {
    const bool of_shape = DecidesAShape(label, in_blocks, of_arguments);
    if (!of_shape && !IsConstant(label, in_blocks, of_arguments, other_sizes)) return false;
    const auto& known = host_.leaves().at(label).value;
    const std::int64_t value = known ? known->integer : UnknownParameter(ParameterName(label), IsSquareBlock(launches_, label));
    constants_[label] = value;
    if (of_shape) {
      draft.notes.push_back(
          fmt::format("{} stays {}, since the shape of an argument depends on it; --set {}.values=.. and a shape "
                      "without it make it a parameter",
                      label, value, ParameterName(label)));
    }
    return true;
  });
  FindPadded(draft);
  // Tiles no wider than what sizes are multiples of, where the kernels do not look at the edge.
  for (const std::string& label : order) {
    if (!IsParameter(label, in_blocks, of_arguments) && !IsRagged(label)) most_ = kUnguardedMultiple;
  }
  for (const std::string& label : order) {
    const auto leaf = host_.leaves().find(label);
    if (leaf != host_.leaves().end() && leaf->second.origin == HostLeaf::Origin::kLoop) continue;
    if (leaf != host_.leaves().end() && leaf->second.value && leaf->second.value->is_real) continue;
    if (IsParameter(label, in_blocks, of_arguments)) {
      AddParameter(label, draft);
      continue;
    }
    std::optional<std::int64_t> value;
    if (leaf != host_.leaves().end() && leaf->second.value && leaf->second.value->integer > 0)
      value = leaf->second.value->integer;
    const std::string name = names_[label] = AddSize(label, value, true, draft);
    DraftSize& size = draft.sizes.back();
    size.ragged = IsRagged(label);
    size.multiple = Multiple(label, size.value);
    size.fixed = size.fixed || (size.known && !size.ragged && IsTakenByThreads(program_, host_, launches_, label, size.value));
    if (const auto padded = padded_.find(label); padded != padded_.end()) {
      size.ragged = false;
      size.multiple = std::lcm(size.multiple, padded->second);
    }
    size.of_call = leaf != host_.leaves().end() && leaf->second.origin == HostLeaf::Origin::kParameter && size.known &&
                   size.value > kSmallConstant;
    bool halved = host_.powers_of_two().contains(label);
    for (const TakenLoop& loop : loops_) halved = halved || loop.powers.contains(label);
    size.power_of_two = halved && std::has_single_bit(static_cast<std::uint64_t>(size.value));
    const bool of_file = leaf != host_.leaves().end() && (leaf->second.origin == HostLeaf::Origin::kMacro ||
                                                          leaf->second.origin == HostLeaf::Origin::kFileConstant);
    if (of_file && device_.words.contains(label) && !IsNameOfDeviceCode(label)) {
      size.macro = true;
      draft.moved.insert(label);
    } else if (IsGivenToTemplates(launches_, label)) {
      // It must be a number when its source is compiled, by a name that device code has not.
      size.compiled = name;
      while (device_.words.contains(size.compiled) || (size.compiled != name && sizes_.contains(size.compiled)))
        size.compiled += "_SIZE";
      size.fixed = size.fixed || size.value <= kMostCompiled;
    }
  }
  // Macros and constants of device code that the host's launches do not mention.
  for (const ProgramMacro& macro : program_.macros()) {
    if (names_.contains(macro.name) || constants_.contains(macro.name) || !device_.words.contains(macro.name) ||
        !LooksTunable(macro.name))
      continue;
    const HostExpression resolved = host_.Resolve(HostExpression::Name(macro.name), -1);
    if (resolved.kind == Kind::kName && resolved.text == macro.name && IsParameter(macro.name, {}, of_arguments))
      AddParameter(macro.name, draft);
  }
  AddConstraints(draft);
}

}  // namespace evo
