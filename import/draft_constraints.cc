// The constraints of parameters: threads of a block, and what the program asserts; and what must not be a parameter.
#include <algorithm>

#include "import/draft_names.h"

namespace evo {
namespace {

using Kind = HostExpression::Kind;

}  // namespace

// A block size by which the length of an argument is divided, as that of one result a block: with another there would be other
// results.
bool DraftNames::DividesArguments(const std::string& label, const std::vector<HostExpression>& kept) const {
  const auto leaf = host_.leaves().find(label);
  if (leaf == host_.leaves().end() || !leaf->second.value || leaf->second.value->is_real) return false;
  if (leaf->second.value->integer < 2 || leaf->second.value->integer > kMostThreads) return false;
  bool divides = false;
  for (const HostExpression& bytes : kept) {
    Replaced(bytes, [&](const HostExpression& part) -> std::optional<HostExpression> {
      const bool division = part.parts.size() == 2 && (part.Is("/") || part.Is("ceil_div"));
      const auto names = division ? part.parts[1].Names() : std::vector<std::string>{};
      divides = divides || std::find(names.begin(), names.end(), label) != names.end();
      return std::nullopt;
    });
  }
  return divides;
}

void DraftNames::AddConstraints(TaskDraft& draft) const {
  const auto add = [&](const HostExpression& condition) {
    // What is no parameter has one value.
    const HostExpression known = Replaced(condition, [&](const HostExpression& part) -> std::optional<HostExpression> {
      const auto leaf = host_.leaves().find(part.text);
      if (part.kind != Kind::kName || names_.contains(part.text) || leaf == host_.leaves().end()) return std::nullopt;
      if (!leaf->second.value || leaf->second.value->is_real) return std::nullopt;
      return HostExpression::Integer(leaf->second.value->integer);
    });
    const HostExpression named = Simplified(Named(known));
    const auto names = named.Names();
    const bool parameters = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      return std::any_of(draft.parameters.begin(), draft.parameters.end(), [&](const auto& one) { return one.name == name; });
    });
    const std::string text = named.Text();
    if (names.empty() || !parameters || !named.IsKnown()) return;
    if (std::find(draft.constraints.begin(), draft.constraints.end(), text) == draft.constraints.end())
      draft.constraints.push_back(text);
  };
  for (const TakenLaunch& one : launches_) {
    if (!one.block.empty()) add(HostExpression::Binary("<=", Product(one.block), HostExpression::Integer(kMostThreads)));
    for (const SourceRange& range : one.use.assertions) {
      const bool in_kernel = one.kernel->body.Contains(range);
      const HostExpression written = ParseHostExpression(program_.Tokens(range));
      const HostExpression known = Replaced(written, [&](const HostExpression& part) -> std::optional<HostExpression> {
        if (part.kind == Kind::kMember && part.parts[0].Is("blockDim")) {
          const std::size_t axis = part.Is("x") ? 0 : part.Is("y") ? 1 : 2;
          return axis < one.block.size() ? std::optional(one.block[axis]) : std::nullopt;
        }
        for (std::size_t t = 0; in_kernel && part.kind == Kind::kName && t < one.kernel->template_parameters.size(); ++t) {
          if (one.kernel->template_parameters[t].name == part.text && t < one.template_values.size())
            return one.template_values[t];
        }
        return std::nullopt;
      });
      if (in_kernel || program_.FunctionAt(range.begin) == (one.launch == nullptr ? -2 : one.launch->function))
        add(in_kernel ? known : host_.Resolve(known, one.launch->function));
    }
  }
}

}  // namespace evo
