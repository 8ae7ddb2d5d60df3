// What HostCode knows of grids and blocks, and of logarithms.
#include <algorithm>
#include <bit>
#include <utility>

#include "import/element_type.h"
#include "import/expansion.h"
#include "import/host_code.h"
#include "import/host_facts.h"

namespace evo {
namespace {

using Kind = HostExpression::Kind;

}  // namespace

std::optional<HostExpression> RoundedLogarithm(const HostExpression& call, bool real, const Variables& values,
                                               std::set<std::string>& powers_of_two) {
  if ((!call.Is("floor_log") && !call.Is("round_log") && !call.Is("log2")) || call.parts.size() != 1) return std::nullopt;
  const HostExpression &of = call.parts[0], two = HostExpression::Integer(2);
  const auto value = ValueOf(of, values);
  if (value && !value->is_real && value->integer > 0 && std::has_single_bit(static_cast<std::uint64_t>(value->integer))) {
    for (std::string& name : of.Names()) powers_of_two.insert(std::move(name));
    return HostExpression::Call("ceil_log", {of, two});
  }
  if (call.Is("round_log") || real) return std::nullopt;
  const HostExpression more = Simplified(HostExpression::Binary("+", of, HostExpression::Integer(1)));
  return HostExpression::Binary("-", HostExpression::Call("ceil_log", {more, two}), HostExpression::Integer(1));
}

// x, y or z of a dim3. One that is computed, such as dimensions of a matrix kept in a dim3, is a leaf of its own: dims_x.
std::optional<HostExpression> HostCode::ResolveComponent(const HostExpression& member, int function) {
  static const std::vector<std::string> kComponents = {"x", "y", "z"};
  const auto axis = std::find(kComponents.begin(), kComponents.end(), member.text);
  if (axis == kComponents.end() || member.parts[0].kind != Kind::kName) return std::nullopt;
  int owner = function;
  const std::vector<HostExpression> all = DimensionsOf(member.parts[0].text, owner);
  const auto index = static_cast<std::size_t>(axis - kComponents.begin());
  if (all.empty()) return std::nullopt;
  if (index >= all.size()) return HostExpression::Integer(1);
  if (all[index].kind == Kind::kName) return all[index];
  const auto value = ValueOf(all[index], Values());
  if (!value || IsGrid(program_, calls_, member.parts[0].text, function)) return all[index];
  const ProgramVariable* variable = program_.FindVariable(member.parts[0].text, owner);
  const std::string place = variable == nullptr ? "" : program_.PlaceOf(program_.tree().node(variable->node).range.begin);
  return leaves_.Add({member.parts[0].text + "_" + member.text, HostLeaf::Origin::kComponent, owner, value, place});
}

// Of the dim3 variable or parameter `name`; empty if it is none. `function`: where it stands, then where its value stands.
std::vector<HostExpression> HostCode::DimensionsOf(const std::string& name, int& function) {
  const Expansion expansion(expanding_, name + " of " + std::to_string(function));
  if (expansion.reaches_itself()) return {};
  std::vector<HostExpression> dimensions;
  const ProgramVariable* variable = program_.FindVariable(name, function, at_);
  if (variable == nullptr) {
    const auto passed = calls_.PassedFor(name, function);
    if (!passed) return {};
    const auto& parameters = program_.functions()[static_cast<std::size_t>(function)].parameters;
    const auto found = std::find_if(parameters.begin(), parameters.end(), [&](const auto& one) { return one.name == name; });
    if (found == parameters.end() || found->type.find("dim3") == std::string::npos) return {};
    function = passed->function;
    return Dimensions(passed->range, passed->function);
  }
  if (variable->type.find("dim3") == std::string::npos) return {};
  for (const char* member : {".x", ".y", ".z"}) {
    const auto& assigned = calls_.AssignedTo(name + member, function);
    if (!assigned.empty()) dimensions.push_back(Resolve(assigned.back(), function));
  }
  if (!dimensions.empty() && variable->initialiser.size() == 0) return dimensions;
  dimensions.clear();
  SourceRange value = variable->initialiser;
  const auto& assigned = calls_.AssignedTo(KeyOf(*variable), variable->function);
  if (value.size() == 0 && !assigned.empty()) value = assigned.front();
  if (value.size() == 0) return {};
  function = variable->function < 0 ? program_.FunctionAt(value.begin) : variable->function;
  const std::size_t open = program_.TokenAt(value.begin);
  if (program_.Token(open) != "(" && program_.Token(open) != "{") return Dimensions(value, function);
  for (const SourceRange& one : calls_.Split(open, program_.AfterBracket(open) - 1)) dimensions.push_back(Resolve(one, function));
  return dimensions;
}

std::vector<HostExpression> HostCode::Dimensions(const SourceRange& range, int function) {
  const HostExpression written = ParseHostExpression(program_.Tokens(range));
  std::vector<HostExpression> dimensions;
  if (written.kind == Kind::kName) {
    int owner = function;
    const std::uint32_t before = std::exchange(at_, range.begin);
    dimensions = DimensionsOf(written.text, owner);
    at_ = before;
    // What the grid names as block.x is the same in the block.
    for (std::size_t i = 0; i < dimensions.size() && i < 3; ++i) {
      if (const auto known = leaves_.Component(written.text + "_" + "xyz"[i], owner)) dimensions[i] = *known;
    }
    if (!dimensions.empty()) return dimensions;
  }
  if (written.kind == Kind::kCall && written.Is("dim3")) {
    for (const HostExpression& part : written.parts) dimensions.push_back(ResolvedFrom(range.begin, part, function));
    return dimensions;
  }
  const std::size_t open = program_.TokenAt(range.begin);
  if (program_.Token(open) == "{") {
    for (const SourceRange& one : calls_.Split(open, program_.AfterBracket(open) - 1))
      dimensions.push_back(Resolve(one, function));
    return dimensions;
  }
  return {ResolvedFrom(range.begin, written, function)};
}

}  // namespace evo
