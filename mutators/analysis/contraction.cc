#include "mutators/analysis/contraction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "mutators/analysis/affine_index.h"
#include "mutators/analysis/block_uniform.h"
#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/memory_traffic.h"
#include "mutators/analysis/source_query.h"
#include "mutators/analysis/sum_loop.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

bool IsFactorType(const std::string& type) {
  constexpr std::array kBytes{"char"sv, "signed char"sv, "unsigned char"sv};
  return IsArithmetic(type) || std::find(kBytes.begin(), kBytes.end(), type) != kBytes.end();
}

class ContractionFinder {
 public:
  ContractionFinder(const MutationContext& context, ElementGrid grid) : tree_(context.tree), uniform_(context, grid.kernel) {
    found_.grid = std::move(grid);
  }

  std::variant<Contraction, std::string> Find() {
    const bool is_one = FindSum() && SplitStatements() && FindFactors() && CheckOutputs() && CheckWrites() && CheckBuiltins();
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
    auto sum = OnlySumLoop(tree_, found_.grid.statements);
    if (auto* why = std::get_if<std::string>(&sum)) return Refuse(std::move(*why));
    const SumLoop& loop = std::get<SumLoop>(sum);
    found_.k = loop.loop;
    found_.accumulator = loop.accumulator;
    found_.update = loop.update;
    product_ = loop.added;
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

  std::string FirstLine(int statement) const {
    const std::string_view text = tree_.Text(statement);
    return fmt::format("`{}`", text.substr(0, text.find('\n')));
  }

  // The indices and the counter on which an expression depends, through variables, too.
  std::set<int> AtomsIn(int expression) const {
    std::set<int> atoms, seen;
    AddAtoms(expression, atoms, seen);
    return atoms;
  }

  void AddAtoms(int expression, std::set<int>& atoms, std::set<int>& seen) const {
    for (const int declaration : NamedIn(tree_, expression)) {
      if (!seen.insert(declaration).second) continue;
      const SyntaxNode& variable = tree_.node(declaration);
      if (IsAtom(declaration) || declaration == found_.grid.flat || declaration == found_.accumulator)
        atoms.insert(declaration);
      else if (variable.kind_name == "VarDecl" && variable.function >= 0)
        AddAtoms(declaration, atoms, seen);
    }
  }

  bool IsAtom(int declaration) const {
    const auto& indices = found_.grid.indices;
    return declaration == found_.k.counter ||
           std::any_of(indices.begin(), indices.end(), [&](const auto& index) { return index.declaration == declaration; });
  }

  std::set<int> Atoms() const {
    return {found_.k.counter, found_.grid.indices[0].declaration, found_.grid.indices[1].declaration};
  }

  // Collects the factors of a product: the largest parts that do not depend on both indices.
  bool Factor(int expression, std::vector<int>& factors) {
    if (expression == product_ && IsFusedMultiplyAdd(LibraryCallee(tree_, expression))) {
      const auto& arguments = tree_.node(expression).children;
      return Factor(arguments[1], factors) && Factor(arguments[2], factors);
    }
    const auto atoms = AtomsIn(expression);
    const bool first = atoms.contains(found_.grid.indices[0].declaration);
    const bool second = atoms.contains(found_.grid.indices[1].declaration);
    if (atoms.contains(found_.grid.flat) && found_.grid.flat >= 0)
      return Refuse(fmt::format("{} depends on {} itself", Quoted(expression), tree_.node(found_.grid.flat).name));
    if (atoms.contains(found_.accumulator)) return Refuse("its products depend on the sum so far");
    if (!first || !second) {
      if (!atoms.empty())
        factors.push_back(expression);
      else if (NamesInLoop(expression))
        return Refuse(fmt::format("{} is the same in every iteration but declared in the loop", Quoted(expression)));
      return IsPure(tree_, expression) || Refuse(fmt::format("{} may do more than compute a value", Quoted(expression)));
    }
    const int inner = WithoutParentheses(tree_, expression);
    const auto& sides = tree_.node(inner).children;
    if (tree_.Operator(inner) == "*" && sides.size() == 2) return Factor(sides[0], factors) && Factor(sides[1], factors);
    // A variable of the loop that is the product itself.
    if (const int variable = NamedDeclaration(tree_, inner); variable >= 0) {
      return Refuse(fmt::format("{} is a product by the name of a variable; write the product where it is added", Quoted(inner)));
    }
    return Refuse(fmt::format("{} is no product of two factors of which each depends on one index", Quoted(inner)));
  }

  bool NamesInLoop(int expression) const { return !NeededDeclarations(tree_, {expression}, found_.in_loop).empty(); }

  bool FindFactors() {
    std::vector<int> factors;
    if (!Factor(product_, factors)) return false;
    const ElementGrid::Index& first = found_.grid.indices[0];
    const ElementGrid::Index& second = found_.grid.indices[1];
    std::vector<int> of_first, of_second;
    for (const int factor : factors) {
      const auto atoms = AtomsIn(factor);
      if (!atoms.contains(found_.k.counter))
        return Refuse(fmt::format("the factor {} does not depend on {}", Quoted(factor), tree_.node(found_.k.counter).name));
      if (atoms.contains(first.declaration))
        of_first.push_back(factor);
      else if (atoms.contains(second.declaration))
        of_second.push_back(factor);
      else
        return Refuse(fmt::format("the factor {} depends on {} alone", Quoted(factor), tree_.node(found_.k.counter).name));
    }
    if (of_first.size() != 1 || of_second.size() != 1) {
      return Refuse(fmt::format("{} factors depend on {} and {} on {}; one of each is needed", of_first.size(),
                                tree_.node(first.declaration).name, of_second.size(), tree_.node(second.declaration).name));
    }
    found_.m = first, found_.n = second;
    found_.a.expression = of_first[0], found_.b.expression = of_second[0];
    return CheckFactor(found_.a, first) && CheckFactor(found_.b, second);
  }

  bool CheckFactor(ContractionFactor& factor, const ElementGrid::Index& index) {
    const std::string type = WithoutConst(tree_.node(factor.expression).type);
    if (!IsFactorType(type)) return Refuse(fmt::format("the factor {} is of the type {}", Quoted(factor.expression), type));
    std::vector<int> declarations = found_.before;
    declarations.insert(declarations.end(), found_.in_loop.begin(), found_.in_loop.end());
    std::vector<int> nodes = NeededDeclarations(tree_, {factor.expression}, declarations);
    nodes.push_back(factor.expression);
    int loads = 0;
    for (const int part : nodes) {
      for (const int node : Subtree(tree_, part)) {
        const SyntaxNode& access = tree_.node(node);
        if (access.opaque) return Refuse(fmt::format("the macro {} is not looked into", Quoted(node)));
        if (PointerAt(tree_, node) < 0 || IsAddressOnly(node)) continue;
        ++loads;
        if (!CheckLoad(node, index, factor)) return false;
      }
    }
    if (loads == 0) return Refuse(fmt::format("the factor {} loads nothing", Quoted(factor.expression)));
    return true;
  }

  // Whether `p[i]` occurs as `&p[i]` in the initialiser of a pointer, where it loads nothing.
  bool IsAddressOnly(int access) const {
    const int parent = tree_.node(access).parent;
    if (tree_.Operator(parent) != "&" || tree_.node(parent).kind_name != "UnaryOperator") return false;
    return tree_.node(tree_.node(parent).parent).kind_name != "CallExpr";
  }

  bool CheckLoad(int access, const ElementGrid::Index& index, ContractionFactor& factor) {
    if (!uniform_.IsUnwritten(PointerAt(tree_, access)))
      return Refuse(fmt::format("{} may be written while the kernel runs", Quoted(access)));
    const auto element = AffineElementOf(tree_, access, Atoms());
    if (!element) return Refuse(fmt::format("the index of {} is no sum of products of sizes and indices", Quoted(access)));
    const auto by_k = element->index.CoefficientOf(found_.k.counter);
    const auto by_output = element->index.CoefficientOf(index.declaration);
    if (!by_k || !by_output) return Refuse(fmt::format("the index of {} is not linear", Quoted(access)));
    if (by_k->IsConstant(1)) factor.inner = ContractionFactor::Inner::kReduced;
    if (by_output->IsConstant(1)) factor.inner = ContractionFactor::Inner::kOutput;
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
        const auto atoms = AtomsIn(target);
        const bool both = atoms.contains(found_.m.declaration) && atoms.contains(found_.n.declaration);
        if (!both && !atoms.contains(found_.grid.flat))
          return Refuse(fmt::format("{} is stored once for many elements", Quoted(target)));
        const auto element = AffineElementOf(tree_, target, Atoms());
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
      return declared.kind_name == "VarDecl" && !declared.children.empty() && !declared.type.ends_with("]") &&
             IsPure(tree_, declared.children.back());
    });
  }

  // What stays of the kernel may not name its threads, nor the blocks along the two axes, whose meaning changes.
  bool CheckBuiltins() {
    std::vector<int> nodes = found_.epilogue;
    nodes.insert(nodes.end(),
                 {found_.a.expression, found_.b.expression, found_.k.bound, found_.m.bound, found_.n.bound, found_.update});
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
    return found_.grid.flat >= 0 || axis == found_.m.axis || axis == found_.n.axis;
  }

  const SyntaxTree& tree_;
  BlockUniform uniform_;
  int product_ = -1;
  Contraction found_;
  std::string why_;
};

}  // namespace

std::variant<Contraction, std::string> AsContraction(const MutationContext& context, int kernel) {
  auto grid = AsElementGrid(context, kernel);
  if (const auto* why = std::get_if<std::string>(&grid)) return *why;
  return ContractionFinder(context, std::get<ElementGrid>(std::move(grid))).Find();
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
