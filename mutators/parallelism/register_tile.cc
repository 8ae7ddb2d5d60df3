#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/global_memory.h"
#include "mutators/analysis/memory_traffic.h"
#include "mutators/analysis/work_sharing.h"
#include "mutators/source_mutators.h"

namespace evo {
namespace {

constexpr std::array<int, 2> kItems{2, 4};

// What a kernel does for one element, in a form that does for several: everything below `statements` that depends on the index.
struct Element {
  ThreadIndex index;
  int guard = -1;               // `if (i >= n) return;` or `if (i < n) { ... }`
  std::string bound;            // `n`
  std::vector<int> statements;  // behind the guard
  std::set<int> dependent;      // declarations that differ from element to element
};

// The bound of `i >= n` or, with `inside`, of `i < n`, alone or as a part of a condition made of such; -1 if there is none.
int BoundIn(const SyntaxTree& tree, int condition, int index, bool inside) {
  condition = WithoutParentheses(tree, condition);
  const auto& sides = tree.node(condition).children;
  if (sides.size() != 2) return -1;
  const std::string_view spelled = tree.Operator(condition);
  if (spelled == (inside ? "&&" : "||")) {
    const int left = BoundIn(tree, sides[0], index, inside);
    const int right = BoundIn(tree, sides[1], index, inside);
    // The other part must not ask for the index.
    if (left >= 0) return NamedIn(tree, sides[1]).contains(index) ? -1 : left;
    return right >= 0 && !NamedIn(tree, sides[0]).contains(index) ? right : -1;
  }
  if (spelled != (inside ? "<" : ">=") || NamedDeclaration(tree, sides[0]) != index) return -1;
  return sides[1];
}

class Finder {
 public:
  Finder(const MutationContext& context, const ThreadIndex& index) : tree_(context.tree), rendered_(context.rendered) {
    element_.index = index;
  }

  std::optional<Element> Find() {
    if (Cooperates(tree_, element_.index.kernel, false) || IsUsedElsewhere(tree_, element_.index.kernel, "blockIdx"))
      return std::nullopt;
    if (!IsStep(element_.index.extent) || !element_.index.launch->cluster.empty()) return std::nullopt;
    if (!BuiltinUses(tree_, element_.index.kernel, "gridDim", element_.index.axis).empty()) return std::nullopt;
    if (WrittenIn(tree_, element_.index.kernel).contains(element_.index.declaration)) return std::nullopt;
    if (!FindGuard() || !Spread() || !AreApart()) return std::nullopt;
    return element_;
  }

 private:
  // The same for all threads of the grid.
  bool IsStep(int extent) const {
    return tree_.Text(extent).find("Idx") == std::string_view::npos && IsInvariant(tree_, extent, element_.index.kernel);
  }

  bool FindGuard() {
    const auto& all = tree_.node(tree_.node(element_.index.statement).parent).children;
    auto at = std::find(all.begin(), all.end(), element_.index.statement) + 1;
    const int index = element_.index.declaration;
    while (at != all.end() && !NamedIn(tree_, *at).contains(index)) ++at;
    if (at == all.end() || tree_.node(*at).kind_name != "IfStmt" || tree_.node(*at).children.size() != 2) return false;
    element_.guard = *at;
    const auto& parts = tree_.node(*at).children;
    int body = parts[1];
    const bool returns =
        tree_.node(body).kind_name == "ReturnStmt" ||
        (tree_.node(body).children.size() == 1 && tree_.node(tree_.node(body).children[0]).kind_name == "ReturnStmt");
    const int bound = BoundIn(tree_, parts[0], index, !returns);
    if (bound < 0 || !IsPure(tree_, bound) || LoadsIn(tree_, bound) || NamedIn(tree_, bound).contains(index)) return false;
    element_.bound = Parenthesised(tree_, bound);
    if (returns) {
      element_.statements.assign(at + 1, all.end());
    } else if (at + 1 == all.end() && tree_.node(body).kind_name == "CompoundStmt") {
      element_.statements = tree_.node(body).children;
    }
    const auto written = WrittenIn(tree_, element_.index.kernel);
    const auto named = NamedIn(tree_, bound);
    return !element_.statements.empty() && std::none_of(named.begin(), named.end(), [&](int d) { return written.contains(d); });
  }

  // Finds what depends on the index. False where that is control flow other than a plain condition, or a variable from before.
  bool Spread() {
    element_.dependent = {element_.index.declaration};
    for (std::size_t before = 0; before != element_.dependent.size();) {
      before = element_.dependent.size();
      for (const int statement : element_.statements) {
        if (!SpreadIn(statement, false)) return false;
      }
    }
    return true;
  }

  bool Depends(int node) const {
    const auto named = NamedIn(tree_, node);
    return std::any_of(named.begin(), named.end(), [&](int d) { return element_.dependent.contains(d); });
  }

  bool SpreadIn(int node, bool conditional) {
    const SyntaxNode& part = tree_.node(node);
    const std::string& kind = part.kind_name;
    if (kind == "ReturnStmt" || kind == "BreakStmt" || kind == "ContinueStmt" || kind == "WhileStmt" || kind == "DoStmt" ||
        kind == "SwitchStmt" || kind == "GotoStmt" || kind == "CXXForRangeStmt")
      return false;
    for (const int hidden : part.hidden) {
      if (element_.dependent.contains(hidden)) return false;
    }
    if (kind == "ForStmt") {
      const auto loop = AsForLoop(tree_, node);
      if (!loop || Depends(loop->init) || Depends(loop->condition) || Depends(loop->increment)) return false;
      return !conditional && SpreadIn(loop->body, false);
    }
    if (kind == "VarDecl" && (conditional || Depends(node))) {
      if (IsMemoryName(tree_, node)) return false;
      element_.dependent.insert(node);
    }
    const int target = Assigned(tree_, node);
    if (target >= 0 && !IsStore(tree_, node) && (conditional || Depends(node))) {
      const int owner = Owner(tree_, target);
      if (!IsWithinStatements(owner)) return false;
      element_.dependent.insert(owner);
    }
    const bool asks = kind == "IfStmt" && (conditional || Depends(part.children[0]));
    return std::all_of(part.children.begin(), part.children.end(),
                       [&](int child) { return SpreadIn(child, conditional || asks); });
  }

  bool IsWithinStatements(int declaration) const {
    return std::any_of(element_.statements.begin(), element_.statements.end(),
                       [&](int s) { return IsWithin(tree_, declaration, s); });
  }

  // Elements do not read what others have stored, and no array of a thread's own is reached by a pointer.
  bool AreApart() const {
    const int kernel = element_.index.kernel;
    const auto traffic = TrafficOf(tree_, kernel);
    if (!traffic || traffic->read.contains(-1)) return false;
    for (const int root : traffic->stored) {
      if (traffic->read.contains(root)) return false;
    }
    bool stores = false;
    for (const int node : Subtree(tree_, kernel)) {
      const SyntaxNode& part = tree_.node(node);
      if (part.kind_name == "ParmDecl" && part.type.find('*') != std::string::npos && IsPassedTwice(tree_, rendered_, node))
        return false;
      if (part.kind_name == "DeclRefExpr" && IsLocalArray(tree_, part.refers_to) &&
          tree_.node(part.parent).kind_name != "ArraySubscriptExpr")
        return false;
      if (LibraryCallee(tree_, node).starts_with("__shfl_") && IsConditional(node)) return false;
      if (!IsStore(tree_, node)) continue;
      const std::string& parent = tree_.node(part.parent).kind_name;
      if (!Depends(node) || !IsWithinStatements(node) || !tree_.Text(node).ends_with(";")) return false;
      if (parent != "CompoundStmt" && parent != "ForStmt" && parent != "IfStmt") return false;
      stores = true;
    }
    return stores;
  }

  // In a condition's branch, or in a store, which gets a condition: not all lanes would come there.
  bool IsConditional(int call) const {
    for (int at = tree_.node(call).parent; at != element_.index.kernel; at = tree_.node(at).parent) {
      if (tree_.node(at).kind_name == "IfStmt" || IsStore(tree_, at)) return true;
    }
    return false;
  }

  const SyntaxTree& tree_;
  const KernelTemplate& rendered_;
  Element element_;
};

// Writes the statements for several elements: what depends on the index once for each, the rest once.
class Writer {
 public:
  Writer(const SyntaxTree& tree, const Element& element, int items) : tree_(tree), element_(element) {
    for (int item = 0; item < items; ++item) {
      std::map<int, std::string> names;
      for (const int declaration : element.dependent) {
        const std::string& name = tree.node(declaration).name;
        names[declaration] = item == 0 ? name : Unused(fmt::format("{}_{}", name, item));
      }
      names_.push_back(std::move(names));
      inside_.push_back(Unused(fmt::format("inside_{}", item)));
    }
  }

  bool Depends(int node) const {
    for (const int at : Subtree(tree_, node)) {
      if (tree_.node(at).kind_name == "VarDecl" && element_.dependent.contains(at)) return true;
    }
    const auto named = NamedIn(tree_, node);
    return std::any_of(named.begin(), named.end(), [&](int d) { return element_.dependent.contains(d); });
  }

  // `const bool inside_1 = i + B < n; const int i_1 = inside_1 ? i + B : i;` An element past the end reads what the first one
  // reads.
  std::vector<std::string> Indices() const {
    const SyntaxNode& index = tree_.node(element_.index.declaration);
    const std::string extent = Parenthesised(tree_, element_.index.extent);
    std::vector<std::string> lines;
    for (std::size_t item = 1; item < names_.size(); ++item) {
      const std::string place =
          item == 1 ? fmt::format("{} + {}", index.name, extent) : fmt::format("{} + {} * {}", index.name, item, extent);
      lines.push_back(fmt::format("const bool {} = {} < {};", inside_[item], place, element_.bound));
      lines.push_back(fmt::format("const {} {} = {} ? {} : {};", WithoutConst(index.type),
                                  names_[item].at(element_.index.declaration), inside_[item], place, index.name));
    }
    return lines;
  }

  std::string Statement(int node, const std::string& indent) const {
    const SyntaxNode& part = tree_.node(node);
    if (!Depends(node)) return indent + std::string(tree_.Text(node)) + "\n";
    if (part.kind_name == kPragmaKind) return fmt::format("{}\n", tree_.Text(node));
    if (part.kind_name == "ForStmt") {
      const int body = part.children.back();
      const SourceRange head{part.range.begin, tree_.node(body).range.begin};
      std::string text(tree_.Text(head));
      while (text.ends_with(" ") || text.ends_with("\n")) text.pop_back();
      return fmt::format("{}{} {{\n{}{}}}\n", indent, text, Block(body, indent + "  "), indent);
    }
    if (part.kind_name == "CompoundStmt") return fmt::format("{}{{\n{}{}}}\n", indent, Block(node, indent + "  "), indent);
    bool stores = false;
    for (const int at : Subtree(tree_, node)) stores |= IsStore(tree_, at);
    std::string text;
    for (std::size_t item = 0; item < names_.size(); ++item) {
      const std::string copy = Copy(node, item);
      text += stores && item > 0 ? fmt::format("{}if ({}) {{ {} }}\n", indent, inside_[item], copy)
                                 : fmt::format("{}{}\n", indent, copy);
    }
    return text;
  }

 private:
  // Neither in the text nor among the names that are about to be.
  std::string Unused(const std::string& wanted) {
    std::string name = wanted;
    for (int number = 2; FreshName(tree_, name) != name || used_.contains(name); ++number)
      name = fmt::format("{}_{}", wanted, number);
    used_.insert(name);
    return name;
  }

  std::string Block(int body, const std::string& indent) const {
    if (tree_.node(body).kind_name != "CompoundStmt") return Statement(body, indent);
    std::string text;
    for (const int child : tree_.node(body).children)
      text += tree_.node(child).kind_name == kPragmaKind ? fmt::format("{}\n", tree_.Text(child)) : Statement(child, indent);
    return text;
  }

  // The node's text with an element's own names.
  std::string Copy(int node, std::size_t item) const {
    std::string text(tree_.Text(node));
    const std::uint32_t origin = tree_.node(node).range.begin;
    std::vector<std::pair<SourceRange, std::string>> names;
    for (const int at : Subtree(tree_, node)) {
      const SyntaxNode& part = tree_.node(at);
      const int declaration = part.kind_name == "VarDecl" ? at : part.kind_name == "DeclRefExpr" ? part.refers_to : -1;
      const auto name = names_[item].find(declaration);
      if (name == names_[item].end()) continue;
      SourceRange range = part.range;
      if (declaration == at) range = NameIn(at);
      names.emplace_back(range, name->second);
    }
    std::sort(names.begin(), names.end(), [](const auto& a, const auto& b) { return a.first.begin > b.first.begin; });
    for (const auto& [range, name] : names) text.replace(range.begin - origin, range.size(), name);
    return text;
  }

  // Where a declaration has its name.
  SourceRange NameIn(int declaration) const {
    const SyntaxNode& variable = tree_.node(declaration);
    for (const SourceRange& token : Tokenize(tree_.Text(declaration))) {
      const SourceRange range{variable.range.begin + token.begin, variable.range.begin + token.end};
      if (tree_.Text(range) == variable.name) return range;
    }
    return {variable.range.begin, variable.range.begin};
  }

  const SyntaxTree& tree_;
  const Element& element_;
  std::vector<std::map<int, std::string>> names_;  // of each item, by declaration
  std::vector<std::string> inside_;
  std::set<std::string> used_;
};

class RegisterTile : public SourceMutator {
 public:
  std::string_view name() const override { return "register_tile"; }
  std::string_view description() const override {
    return "lets a thread compute 2 or 4 elements at once, which share what they load";
  }
  double weight() const override { return 2; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    std::vector<Proposal> proposals;
    for (const ThreadIndex& index : BlockIndices(context)) {
      const auto element = Finder(context, index).Find();
      for (const int items : element ? std::vector<int>(kItems.begin(), kItems.end()) : std::vector<int>{})
        proposals.push_back(Tile(context.tree, *element, items));
    }
    return proposals;
  }

 private:
  static Proposal Tile(const SyntaxTree& tree, const Element& element, int items) {
    const Writer writer(tree, element, items);
    const std::string indent = IndentOf(tree, element.statements.front());
    Proposal proposal;
    proposal.changes.push_back(
        {element.index.block, Placement::kReplace, fmt::format("(blockIdx.{} * {})", "xyz"[element.index.axis], items)});
    std::string lines;
    for (const std::string& line : writer.Indices())
      lines += LineBefore(tree, StatementOf(tree, element.statements.front()), line);
    proposal.changes.push_back({element.statements.front(), Placement::kBefore, std::move(lines)});
    for (const int statement : element.statements) {
      if (tree.node(statement).kind_name == kPragmaKind || !writer.Depends(statement)) continue;
      std::string text = writer.Statement(statement, indent);
      text = text.substr(indent.size(), text.size() - indent.size() - 1);
      proposal.changes.push_back({statement, Placement::kReplace, std::move(text)});
      for (const int at : Subtree(tree, statement)) {
        if (tree.node(at).kind_name == "CompoundStmt") proposal.also_anchored.push_back(at);
      }
    }
    const std::string extent = ExtentOf(tree, element.index);
    const Expression& grid = element.index.launch->grid[element.index.axis];
    proposal.launch.push_back(WithDimension(*element.index.launch, "grid", element.index.axis,
                                            BlocksOf(grid, extent, fmt::format("{} * {}", Parenthesised(extent), items),
                                                     fmt::format("ceil_div({}, {})", grid.text(), items))));
    return proposal;
  }

  // How the launch line spells what a block moves the index on by.
  static std::string ExtentOf(const SyntaxTree& tree, const ThreadIndex& index) {
    const std::string text(tree.Text(index.extent));
    const bool block = text.starts_with("blockDim.") && index.axis < index.launch->block.size();
    return block ? index.launch->block[index.axis].text() : text;
  }

  // Of a pragma, the loop that it stands in front of.
  static int StatementOf(const SyntaxTree& tree, int node) {
    if (tree.node(node).kind_name != kPragmaKind) return node;
    const auto& siblings = tree.node(tree.node(node).parent).children;
    return *(std::find(siblings.begin(), siblings.end(), node) + 1);
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeRegisterTile() { return std::make_unique<RegisterTile>(); }

}  // namespace evo
