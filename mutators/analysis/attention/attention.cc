#include "mutators/analysis/attention/attention.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "mutators/analysis/attention/attention_bounds.h"
#include "mutators/analysis/attention/attention_check.h"
#include "mutators/analysis/attention/attention_depth.h"
#include "mutators/analysis/attention/attention_layout.h"
#include "mutators/analysis/attention/attention_long.h"
#include "mutators/analysis/attention/attention_mask.h"
#include "mutators/analysis/attention/attention_roles.h"
#include "mutators/analysis/attention/attention_runs.h"
#include "mutators/analysis/numbers/step_budget.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/analysis/thread_runs/thread_block.h"
#include "mutators/analysis/thread_runs/thread_run.h"

namespace evo {
namespace {

// Rows of the first runs. Both are less than every size.
constexpr std::int64_t kTriedRows[] = {1, 3};
// Of a kernel with its matrices in one buffer. Others with fewer than four are passed over in silence.
constexpr int kFewestPointers = 2, kPointersOfMatrices = 4;
constexpr std::string_view kNoAttention = "what it stores is not softmax(scale * query * key) * value over the keys";

class AttentionFinder {
 public:
  // The rows' number of elements may be a choice.
  AttentionFinder(const MutationContext& context, const LaunchDirective& launch, int kernel, const RowIndex& row,
                  const DepthChoice* depth)
      : context_(context),
        tree_(context.tree),
        index_(row),
        runs_(context, launch, kernel, index_),
        bounds_(tree_, index_, runs_, traces_),
        layout_(tree_, index_, runs_, bounds_, traces_) {
    fixed_.depth = depth;
    found_.kernel = kernel;
    found_.launch_bounds = LaunchBoundsOf(tree_, kernel);
    found_.launch = &launch;
    found_.axis = row.axis;
    found_.extent = row.together() ? std::to_string(row.extent) : launch.block[row.block_axis].text();
    found_.guards = runs_.guards();
  }

  std::variant<Attention, std::string> Find() {
    if (!runs_.refusal().empty()) return runs_.refusal();
    if (FindAll()) return found_;
    return why_;
  }
  // Whether a row of it is one of an attention.
  bool resembles() const { return roles_.o >= 0; }

 private:
  bool Refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }

  bool FindAll() {
    AttentionLong lengths(tree_, runs_, bounds_, traces_);
    AttentionMask masks(tree_, runs_);
    if (!RunSmall()) return false;
    if (!bounds_.Find(roles_, found_)) return Refuse(bounds_.why());
    if (!lengths.Find(roles_, found_)) return Refuse(lengths.why());
    if (!RunUnweighted() || !FindOwnKeys()) return false;
    if (!layout_.Find(roles_, found_)) return Refuse(layout_.why());
    if (roles_.mask >= 0 && !masks.Find(roles_, found_)) return Refuse(masks.why());
    if (!CheckDeciding() || !CheckTypes()) return false;
    Name();
    found_.largest_number = traces_[0][1].largest_number;
    return true;
  }
  std::string NameOf(int declaration) const { return declaration < 0 ? "blockIdx" : tree_.node(declaration).name; }

  // Two rows at two settings, which the same roles must explain.
  bool RunSmall() {
    AttentionRoleFinder finder(runs_);
    if (!finder.Find(roles_)) return Refuse(finder.why());
    for (const std::size_t number : {0u, 1u}) {
      for (const std::size_t at : {0u, 1u}) {
        traces_[number][at] = runs_.Run(number, kTriedRows[at]);
        if (!traces_[number][at].refusal.empty()) return Refuse(traces_[number][at].refusal);
      }
    }
    // Of a row that reads its own keys only, its number decides whether more would be read.
    const std::int64_t fewer = KeysRead(traces_[0][0], roles_), more = KeysRead(traces_[0][1], roles_);
    roles_.causal |= fewer != more;
    if (fewer != more && (fewer != kTriedRows[0] + 1 || more != kTriedRows[1] + 1))
      return Refuse("its rows have keys that are neither all nor those up to the row");
    for (const std::size_t number : {0u, 1u}) {
      for (const std::size_t at : {0u, 1u}) {
        const ThreadTrace& trace = traces_[number][at];
        if (Computes(trace, roles_, kTriedRows[at])) continue;
        return Refuse(trace.beside.empty() ? std::string(kNoAttention)
                                           : fmt::format("{}, or beside it nothing known of its scores", kNoAttention));
      }
    }
    found_.depth = roles_.depth, found_.causal = roles_.causal, found_.scale = roles_.scale;
    return true;
  }

  // A row without keys. Where all have one: a row whose scores are all minus infinity, of which only zero is kept, since kernels
  // differ in what else they make of it.
  bool RunUnweighted() {
    const ThreadTrace trace = runs_.RunWithoutKeys(kTriedRows[1], bounds_.rows(), roles_);
    found_.keyless = trace.refusal.empty() && KeysRead(trace, roles_) == 0;
    if (!found_.keyless) {
      const ThreadTrace infinite = runs_.RunWithKeys(kTriedRows[1], roles_, -INFINITY);
      if (infinite.refusal.empty() && Stores(infinite, 0.0)) found_.unweighted = Attention::Unweighted::kZero;
      return true;
    }
    if (trace.stores.empty())
      found_.unweighted = Attention::Unweighted::kNothing;
    else if (Stores(trace, 0.0))
      found_.unweighted = Attention::Unweighted::kZero;
    else if (!Stores(trace, NAN))
      return Refuse("a row without keys is neither 0 / 0 nor zero");
    return true;
  }

  // Whether a thread stored its row, and this number in all of it.
  bool Stores(const ThreadTrace& trace, double number) const {
    const auto row = trace.stores.find(roles_.o);
    if (row == trace.stores.end() || row->second.size() != static_cast<std::size_t>(roles_.depth)) return false;
    return std::all_of(row->second.begin(), row->second.end(), [&](const auto& element) {
      return std::isnan(number) ? std::isnan(element.second.value) : element.second.value == number;
    });
  }

  // Whether each row has keys of its own, which begin where it says.
  bool FindOwnKeys() {
    const AffineForm& first = traces_[0][1].reads.at(roles_.k).begin()->second.index;
    found_.own_keys = !bounds_.IsOfBlock(first) && (index_.together() ? index_.extent == 1 : index_.flat_length == nullptr) &&
                      !found_.causal && bounds_.IsOfRow(first);
    if (!found_.own_keys) {
      return !found_.rows.empty() ||
             Refuse(fmt::format("no bound is known for {}, the row of a block", NameOf(index_.declaration)));
    }
    if (index_.together()) return true;
    const auto launched = bounds_.LaunchedRows(found_);
    if (!launched) return Refuse("its launch line does not say how many rows it has");
    found_.row = index_.declaration;
    found_.launched_rows = *launched;
    return true;
  }

  // Whether the launch line passes a number for a parameter, or a parameter of the source that then must not change.
  bool IsFixed(int parameter) {
    const auto of = std::find_if(runs_.arguments().begin(), runs_.arguments().end(),
                                 [&](const auto& argument) { return argument.first == parameter; });
    if (of == runs_.arguments().end() || WrittenIn(tree_, found_.kernel).contains(parameter)) return false;
    const auto names = of->second.Names();
    if (!std::all_of(names.begin(), names.end(), [&](const auto& name) { return context_.genome.parameters.contains(name); }))
      return false;
    fixed_.names.insert(names.begin(), names.end());
    return true;
  }

  // Nothing else may decide what the kernel does: with another value it could do something else.
  bool CheckDeciding() {
    for (const int symbol : traces_[0][1].deciding) {
      if (symbol == runs_.row_symbol() || bounds_.allowed().contains(symbol) || runs_.IsPinned(symbol) || IsFixed(symbol) ||
          layout_.IsOfMask(symbol))
        continue;
      if (runs_.threads().block_constants().contains(symbol)) {
        const auto named = NamedIn(tree_, symbol);
        if (std::all_of(named.begin(), named.end(), [&](int name) {
              return bounds_.allowed().contains(name) || runs_.IsPinned(name) || tree_.node(name).function < 0;
            }))
          continue;
      }
      if (fixed_.depth != nullptr && runs_.threads().block_constants().contains(symbol) &&
          IsQuotientOf(tree_, symbol, *fixed_.depth))
        continue;
      return Refuse(fmt::format("{} decides what it computes", runs_.threads().TextOf(AffineForm::Symbol(symbol))));
    }
    for (const int symbol : bounds_.allowed()) {
      if (!bounds_.IsOfBlock(AffineForm::Symbol(symbol))) return Refuse("a bound of its rows or keys depends on the thread");
    }
    return true;
  }

  bool CheckTypes() {
    found_.element = PointedTo(tree_, found_.q.parameter);
    found_.output = PointedTo(tree_, found_.o.parameter);
    for (const int parameter : {found_.q.parameter, found_.k.parameter, found_.v.parameter}) {
      const std::string type = PointedTo(tree_, parameter);
      if (type != "__half" && type != "__nv_bfloat16" && type != "float")
        return Refuse(fmt::format("the elements of {} are {}, and half, bfloat16 and float are known", NameOf(parameter), type));
      if (type != found_.element) return Refuse("its matrices are of two types");
    }
    if (found_.element == "float") return found_.output == "float" || Refuse(fmt::format("it stores {}", found_.output));
    if (found_.output != found_.element && found_.output != "float") return Refuse(fmt::format("it stores {}", found_.output));
    return found_.depth % 16 == 0 ||
           Refuse(fmt::format("its rows have {} elements, and tensor cores take 16 at a time", found_.depth));
  }

  // Which declarations the texts need, and what the number of elements is called.
  void Name() {
    std::string words = fmt::format("{} {} {}", found_.rows, found_.keys, found_.scale);
    for (const Attention::Matrix* matrix : {&found_.q, &found_.k, &found_.v, &found_.o})
      words += fmt::format(" {} {}", matrix->base, matrix->stride);
    for (const Attention::Plane* plane :
         {&found_.term.plane, &found_.mask.plane, &found_.beside.sums, &found_.beside.largest, &found_.beside.weights})
      words += fmt::format(" {} {} {}", plane->base, plane->row_stride, plane->key_stride);
    words += fmt::format(" {} {}", found_.term.factor, found_.window);
    for (const int guard : found_.guards) words += fmt::format(" {}", tree_.Text(guard));
    for (auto variable = runs_.threads().block_constants().rbegin(); variable != runs_.threads().block_constants().rend();
         ++variable) {
      const auto tokens = Tokenize(words);
      const bool named = std::any_of(tokens.begin(), tokens.end(), [&](const SourceRange& range) {
        return std::string_view(words).substr(range.begin, range.size()) == NameOf(*variable);
      });
      if (!named) continue;
      found_.declarations.insert(found_.declarations.begin(), *variable);
      words += fmt::format(" {}", tree_.Text(tree_.node(*variable).children.back()));
    }
    const auto& names = traces_[0][1].names;
    found_.depth_name = std::to_string(found_.depth);
    for (const bool parameter : {true, false}) {  // a macro rather than a parameter
      for (const std::string& name : names) {
        if (ConstantValue(tree_, name) == found_.depth && context_.genome.parameters.contains(name) == parameter)
          found_.depth_name = name;
      }
    }
    found_.parameters = ParametersBehind(context_, fmt::format("{} {}", fmt::join(names, " "), fmt::join(fixed_.names, " ")));
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  RowIndex index_;
  AttentionRuns runs_;
  Attention found_;
  AttentionRoles roles_;
  // What the launch line passes as numbers: parameters of the source by name, and a choice for the rows' number of elements.
  struct Fixed {
    const DepthChoice* depth = nullptr;
    std::set<std::string> names{};
  };
  Fixed fixed_;
  AttentionTraces traces_;
  AttentionBounds bounds_;
  AttentionLayout layout_;
  std::string why_;
};

// Pointers of a kernel whose file computes an exponential; else 0.
int PointersOfAttention(const SyntaxTree& tree, int kernel) {
  int pointers = 0;
  for (const int child : tree.node(kernel).children) {
    const SyntaxNode& parameter = tree.node(child);
    pointers += parameter.kind_name == "ParmDecl" && parameter.type.find('*') != std::string::npos;
  }
  return CallsExponential(tree.text()) ? pointers : 0;
}

// Tells whether it resembles one, too.
std::variant<Attention, std::string> FindAttention(const MutationContext& context, int kernel, const DepthChoice* depth,
                                                   bool& resembles) {
  const SyntaxTree& tree = context.tree;
  const SyntaxNode& node = tree.node(kernel);
  if (node.kind_name != "FunctionDecl") return "it is a function template";
  const LaunchDirective* const launch = OnlyLaunch(context.rendered, node.name);
  if (launch == nullptr) return "it is not launched by exactly one launch line";
  if (!launch->cluster.empty() || launch->cooperative) return "its blocks are launched as clusters or together";
  if (tree.node(node.children.back()).kind_name != "CompoundStmt") return "it has no body";
  const std::string_view head = tree.Text({node.range.begin, tree.node(node.children.back()).range.begin});
  if (head.find("__launch_bounds__") != std::string_view::npos && LaunchBoundsOf(tree, kernel) < 0)
    return "its __launch_bounds__ are in a macro, and rule out other blocks";
  std::optional<Attention> of_rows;
  std::string why = "no variable is blockIdx * size + threadIdx, the row of a thread";
  bool first = true;
  for (const RowIndex& row : RowIndicesOf(context, *launch, kernel)) {
    std::variant<Attention, std::string> found;
    bool two_axes = false;
    for (std::size_t axis = 0; axis < launch->block.size() && !row.together(); ++axis)
      two_axes |= axis != row.block_axis && ConstantValue(tree, launch->block[axis].text()) != 1;
    if (two_axes) {
      found = "its blocks have threads along two axes";
    } else {
      AttentionFinder finder(context, *launch, kernel, row, depth);
      found = finder.Find();
      resembles |= finder.resembles();
    }
    // Rows that share keys also share the blocks' loads of them.
    if (auto* const attention = std::get_if<Attention>(&found)) {
      if (!attention->own_keys) return found;
      if (!of_rows) of_rows = std::move(*attention);
      continue;
    }
    if (std::exchange(first, false)) why = std::get<std::string>(found);
  }
  if (of_rows) return *std::move(of_rows);
  return why;
}

}  // namespace

std::variant<Attention, std::string> AsAttention(const MutationContext& context, int kernel) {
  const int pointers = PointersOfAttention(context.tree, kernel);
  if (pointers < kFewestPointers ||
      (pointers < kPointersOfMatrices && (IsKnownElsewhere(context, kernel) || IsTunedBlock(context, kernel))))
    return "";
  // Several operators ask, and running threads takes a while. The launch line is the context's own.
  const std::string key = fmt::format("attention {} with {}", kernel, fmt::join(context.genome.parameters, ","));
  auto found = context.tree.Kept<std::variant<Attention, std::string>>(key, [&]() -> std::variant<Attention, std::string> {
    const StepBudget budget;
    bool resembles = false;
    auto looked_at = FindAttention(context, kernel, nullptr, resembles);
    if (std::holds_alternative<std::string>(looked_at)) {
      const FindWithDepth find = [&](const KernelTemplate& rendered, const DepthChoice& depth) {
        bool ignored = false;
        return FindAttention({context.kernel_template, context.genome, context.tree, rendered}, kernel, &depth, ignored);
      };
      if (auto of_sizes = AttentionOfSizes(context, kernel, resembles, find)) return *std::move(of_sizes);
    }
    if (pointers < kPointersOfMatrices && !resembles && std::holds_alternative<std::string>(looked_at)) return "";
    return looked_at;
  });
  if (auto* const attention = std::get_if<Attention>(&found))
    attention->launch = OnlyLaunch(context.rendered, context.tree.node(kernel).name);
  return found;
}

}  // namespace evo
