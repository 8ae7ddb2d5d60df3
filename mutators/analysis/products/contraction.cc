#include "mutators/analysis/products/contraction.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "mutators/analysis/products/contraction_factors.h"
#include "mutators/analysis/products/contraction_variables.h"
#include "mutators/analysis/source/affine_index.h"
#include "mutators/analysis/source/block_uniform.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/sum_loop.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

class ContractionFinder {
 public:
  ContractionFinder(const MutationContext& context, ElementGrid grid, bool by_words)
      : tree_(context.tree), uniform_(context, grid.kernel), by_words_(by_words), variables_(tree_, found_) {
    found_.grid = std::move(grid);
  }

  std::variant<Contraction, std::string> Find() {
    const bool is_one =
        FindSum() && SplitStatements() && CheckStart() && FindFactors() && CheckOutputs() && CheckWrites() && CheckBuiltins();
    if (!is_one) return why_;
    return found_;
  }

 private:
  bool Refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }

  std::string Quoted(int node) const { return fmt::format("`{}`", tree_.Text(node)); }

  bool FindSum() {
    auto sum = OnlySumLoop(tree_, found_.grid.statements, by_words_);
    if (auto* why = std::get_if<std::string>(&sum)) return Refuse(std::move(*why));
    const SumLoop& loop = std::get<SumLoop>(sum);
    found_.k = loop.loop;
    found_.accumulator = loop.accumulator;
    found_.start = loop.start;
    found_.update = loop.update;
    product_ = loop.added;
    found_.of_words = IsWordProduct(LibraryCallee(tree_, product_));
    if (!uniform_.IsUniform(found_.k.bound) || LoadsIn(tree_, found_.k.bound))
      return Refuse(fmt::format("the threads of a block do not all sum up to the same bound {}", Quoted(found_.k.bound)));
    return true;
  }

  // Declarations, the loop, and what follows it.
  bool SplitStatements() {
    found_.before = found_.grid.before;
    bool after = false;
    for (const int statement : found_.grid.statements) {
      const std::string& kind = tree_.node(statement).kind_name;
      if (statement == tree_.node(found_.accumulator).parent || kind == kPragmaKind) continue;
      if (statement == found_.k.parts.statement) {
        after = true;
      } else if (after) {
        found_.epilogue.push_back(statement);
      } else if (kind == "DeclStmt") {
        found_.before.push_back(statement);
      } else {
        return Refuse(fmt::format("{} stands before the loop, where only declarations are understood", FirstLine(statement)));
      }
    }
    if (!after) return Refuse("the loop of its sum is not in the kernel's outermost block");
    for (const int statement : found_.epilogue) {
      if (JumpsOut(tree_, statement)) return Refuse("it may return early after the loop");
    }
    const int body = found_.k.parts.body;
    const bool block = tree_.node(body).kind_name == "CompoundStmt";
    for (const int statement : block ? tree_.node(body).children : std::vector<int>{body}) {
      if (statement == found_.update) continue;
      if (tree_.node(statement).kind_name != "DeclStmt") return Refuse(fmt::format("its loop also has {}", FirstLine(statement)));
      found_.in_loop.push_back(statement);
    }
    return true;
  }

  // What the sum starts with may be computed once more, before anything is stored.
  bool CheckStart() {
    if (found_.start < 0) return true;
    if (!IsPure(tree_, found_.start)) return Refuse(fmt::format("{} may do more than compute a value", Quoted(found_.start)));
    std::vector<int> nodes = NeededDeclarations(tree_, {found_.start}, found_.before);
    nodes.push_back(found_.start);
    for (const int part : nodes) {
      for (const int node : Subtree(tree_, part)) {
        if (PointerAt(tree_, node) >= 0 && !uniform_.IsUnwritten(PointerAt(tree_, node)) && !IsStoredElement(node))
          return Refuse(fmt::format("{}, with which its sum starts, may be written while the kernel runs", Quoted(node)));
      }
    }
    return true;
  }

  // Whether all that is stored to a buffer is this element, the thread's own: `c[i] * beta`, with which its sum starts.
  bool IsStoredElement(int element) const {
    if (tree_.node(element).kind_name != "ArraySubscriptExpr") return false;
    int stores = 0;
    for (const int node : Subtree(tree_, found_.grid.kernel)) {
      if (!IsStore(tree_, node)) continue;
      if (!SameTokens(tree_.Text(Assigned(tree_, node)), tree_.Text(element))) return false;
      ++stores;
    }
    return stores == 1;
  }

  std::string FirstLine(int statement) const {
    const std::string_view text = tree_.Text(statement);
    return fmt::format("`{}`", text.substr(0, text.find('\n')));
  }

  bool FindFactors() {
    ContractionFactors factors(tree_, uniform_, found_);
    if (!factors.FindIn(product_)) return Refuse(factors.why());
    found_.m = found_.grid.indices[0], found_.n = found_.grid.indices[1];
    found_.a = factors.of_first(), found_.b = factors.of_second();
    found_.combined = factors.combined();
    return true;
  }

  // Every store names its own element, and a's index is the one that is not the output's innermost.
  bool CheckOutputs() {
    int stores = 0;
    for (const int statement : found_.epilogue) {
      for (const int node : Subtree(tree_, statement)) {
        const int target = IsStore(tree_, node) ? Assigned(tree_, node) : -1;
        if (target < 0) continue;
        ++stores;
        const auto atoms = variables_.In(target);
        const bool both = atoms.contains(found_.m.declaration) && atoms.contains(found_.n.declaration);
        if (!both && !atoms.contains(found_.grid.flat))
          return Refuse(fmt::format("{} is stored once for many elements", Quoted(target)));
        const auto element = AffineElementOf(tree_, target, variables_.Indices());
        if (!element) continue;
        const auto by_m = element->index.CoefficientOf(found_.m.declaration);
        if (by_m && by_m->IsConstant(1)) {
          std::swap(found_.m, found_.n);
          std::swap(found_.a, found_.b);
        }
      }
    }
    return stores > 0 || Refuse("it stores nothing after the loop");
  }

  bool CheckWrites() {
    for (const int variable : WrittenIn(tree_, found_.grid.kernel)) {
      if (variable == found_.accumulator || variable == found_.k.counter) continue;
      const auto inside = [&](int statement) { return IsWithin(tree_, variable, statement); };
      if (std::none_of(found_.epilogue.begin(), found_.epilogue.end(), inside))
        return Refuse(fmt::format("{} changes", tree_.node(variable).name));
    }
    for (const int statement : found_.before) {
      if (!AreInitialisersPure(statement))
        return Refuse(fmt::format("{} may do more than compute a value", FirstLine(statement)));
    }
    return true;
  }

  bool AreInitialisersPure(int statement) const {
    const auto& variables = tree_.node(statement).children;
    return std::all_of(variables.begin(), variables.end(), [&](int variable) {
      const SyntaxNode& declared = tree_.node(variable);
      if (declared.kind_name != "VarDecl") return false;
      if (tree_.UsesOf(variable).empty() && declared.children.empty()) return true;
      return !declared.children.empty() && !declared.type.ends_with("]") && IsPure(tree_, declared.children.back());
    });
  }

  // What stays of the kernel may not name its threads, nor the blocks along the two axes, whose meaning changes.
  bool CheckBuiltins() {
    std::vector<int> nodes = found_.epilogue;
    nodes.insert(nodes.end(),
                 {found_.a.expression, found_.b.expression, found_.k.bound, found_.m.bound, found_.n.bound, found_.update});
    if (found_.start >= 0) nodes.push_back(found_.start);
    std::vector<int> declarations = found_.before;
    declarations.insert(declarations.end(), found_.in_loop.begin(), found_.in_loop.end());
    for (const int needed : NeededDeclarations(tree_, nodes, declarations)) nodes.push_back(needed);
    for (const int part : nodes) {
      for (const int node : Subtree(tree_, part)) {
        const SyntaxNode& name = tree_.node(node);
        if (name.kind_name != "DeclRefExpr" || name.refers_to >= 0) continue;
        const bool of_block = name.name == "blockIdx" && !IsOfGridAxis(tree_.Text(name.parent));
        if ((name.name == "threadIdx" || name.name == "blockIdx" || name.name == "blockDim" || name.name == "gridDim") &&
            !of_block)
          return Refuse(fmt::format("{} is used besides the two indices", name.name));
      }
    }
    return true;
  }

  bool IsOfGridAxis(std::string_view member) const {
    const std::size_t axis = "xyz"sv.find(member.back());
    if (found_.grid.flat >= 0) return axis < 2 || found_.grid.launch->grid.size() != 3;
    return axis == found_.m.axis || axis == found_.n.axis;
  }

  const SyntaxTree& tree_;
  BlockUniform uniform_;
  const bool by_words_;
  int product_ = -1;
  Contraction found_;
  ContractionVariables variables_;  // of found_
  std::string why_;
};

}  // namespace

static std::variant<Contraction, std::string> Found(const MutationContext& context, int kernel, bool by_words) {
  auto grid = AsElementGrid(context, kernel);
  if (const auto* why = std::get_if<std::string>(&grid)) return *why;
  return ContractionFinder(context, std::get<ElementGrid>(std::move(grid)), by_words).Find();
}

std::variant<Contraction, std::string> AsContraction(const MutationContext& context, int kernel) {
  return Found(context, kernel, false);
}

std::variant<Contraction, std::string> AsContractionOfWords(const MutationContext& context, int kernel) {
  return Found(context, kernel, true);
}

std::vector<int> NeededDeclarations(const SyntaxTree& tree, const std::vector<int>& nodes, const std::vector<int>& declarations) {
  std::set<int> named;
  for (const int node : nodes) named.merge(NamedIn(tree, node));
  std::vector<int> needed;
  for (auto statement = declarations.rbegin(); statement != declarations.rend(); ++statement) {
    const auto& variables = tree.node(*statement).children;
    if (std::none_of(variables.begin(), variables.end(), [&](int variable) { return named.contains(variable); })) continue;
    named.merge(NamedIn(tree, *statement));
    needed.insert(needed.begin(), *statement);
  }
  return needed;
}

}  // namespace evo
