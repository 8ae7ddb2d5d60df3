#include "mutators/parallelism/products/mapped_operands.h"

#include <algorithm>
#include <set>

#include "kernel_templates/directive_lexer.h"
#include "mutators/analysis/source/affine_index.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

class OperandMapper {
 public:
  OperandMapper(const MutationContext& context, const Contraction& found)
      : context_(context), tree_(context.tree), found_(found) {}

  std::optional<MappedOperand> Map(const ContractionFactor& factor, const ElementGrid::Index& index, int load) const {
    const bool by_k = factor.inner == ContractionFactor::Inner::kReduced;
    const int inner = by_k ? found_.k.counter : index.declaration, outer = by_k ? index.declaration : found_.k.counter;
    const int inner_bound = by_k ? found_.k.bound : index.bound, outer_bound = by_k ? index.bound : found_.k.bound;
    const std::set<int> atoms{inner, outer};
    const auto element = AffineElementOf(tree_, Element(load), atoms);
    const auto pitch = element ? element->index.CoefficientOf(outer) : std::nullopt;
    const auto inner_size = LaunchedSize(context_, found_.grid, inner_bound);
    const auto outer_size = LaunchedSize(context_, found_.grid, outer_bound);
    if (!pitch || !inner_size || !outer_size) return std::nullopt;
    const AffineForm in_rows = AffineForm::Symbol(outer).TimesForm(*pitch).Plus(AffineForm::Symbol(inner));
    const bool has_gaps = AffineFormOf(tree_, inner_bound, atoms) != pitch && SizeOf(*pitch) != inner_size;
    const auto buffer = LaunchedSize(context_, found_.grid, element->parameter);
    if (!(element->index == in_rows) || has_gaps || !buffer || !IsIdentifier(*buffer)) return std::nullopt;
    return MappedOperand{*buffer, *inner_size, *outer_size};
  }

 private:
  // What the launch line passes for a form that is a parameter.
  std::optional<std::string> SizeOf(const AffineForm& form) const {
    const std::set<int> symbols = form.Symbols();
    if (symbols.size() != 1 || *symbols.begin() < 0 || !(form == AffineForm::Symbol(*symbols.begin()))) return std::nullopt;
    return LaunchedSize(context_, found_.grid, *symbols.begin());
  }

  // `x[k]` of the address `&x[k]`.
  int Element(int load) const {
    const SyntaxNode& node = tree_.node(load);
    return tree_.Operator(load) == "&" && node.children.size() == 1 ? node.children.front() : load;
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  const Contraction& found_;
};

// Whether another launch line of the same kernel may stand beside this one.
bool IsPlainLaunch(const MutationContext& context, const Contraction& found) {
  const LaunchDirective& launch = *found.grid.launch;
  const auto loops = [](const Step& step) { return step.repeat.has_value(); };
  if (std::any_of(context.rendered.steps.begin(), context.rendered.steps.end(), loops)) return false;
  if (launch.when || !launch.cluster.empty() || launch.cooperative || launch.kernel != launch.kernel_expression) return false;
  for (std::size_t axis = 0; axis < launch.grid.size(); ++axis) {
    const bool of_output = found.grid.flat >= 0 ? axis == 0 : axis == found.m.axis || axis == found.n.axis;
    if (!of_output && launch.grid[axis].text() != "1") return false;
  }
  return true;
}

}  // namespace

std::optional<MappedOperands> AsMappedOperands(const MutationContext& context, const Contraction& found,
                                               const TensorOperands& operands) {
  if (!IsPlainLaunch(context, found)) return std::nullopt;
  const OperandMapper mapper(context, found);
  const auto a = mapper.Map(found.a, found.m, operands.a), b = mapper.Map(found.b, found.n, operands.b);
  const auto m = LaunchedSize(context, found.grid, found.m.bound), n = LaunchedSize(context, found.grid, found.n.bound);
  if (!a || !b || !m || !n || a->buffer == b->buffer) return std::nullopt;
  return MappedOperands{*a, *b, *m, *n};
}

}  // namespace evo
