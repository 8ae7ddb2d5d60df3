#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "mutators/analysis/plain_source/plain_source.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/element_kernel.h"
#include "mutators/analysis/source/indentation.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

constexpr std::array<int, 2> kRegisterItems{2, 4};

// Writes a kernel's statements for several elements: those that depend on the index once for each element, the others once.
class Writer {
 public:
  Writer(const SyntaxTree& tree, const ElementKernel& element, int items)
      : tree_(tree), element_(element), written_(WrittenIn(tree, element.index.kernel)) {
    for (int item = 0; item < items; ++item) {
      std::map<int, std::string> names;
      for (const int declaration : element.dependent) {
        const std::string& name = tree.node(declaration).name;
        if (BecomesArray(declaration)) {
          names[declaration] = fmt::format("{}[{}]", name, item);
        } else {
          names[declaration] = item == 0 ? name : Unused(fmt::format("{}_{}", name, item));
        }
      }
      names_.push_back(std::move(names));
      inside_.push_back(Unused(fmt::format("inside_{}_{}", tree.node(element.index.declaration).name, item)));
    }
  }

  bool Depends(int node) const {
    for (const int at : Subtree(tree_, node)) {
      if (tree_.node(at).kind_name == "VarDecl" && element_.dependent.contains(at)) return true;
    }
    const auto named = NamedIn(tree_, node);
    return std::any_of(named.begin(), named.end(), [&](int d) { return element_.dependent.contains(d); });
  }

  // `const bool inside_1 = i + B < n; const int i_1 = inside_1 ? i + B : i;`. An element past the end reads what the first
  // element reads.
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

  // The text that takes the place of a statement. What is between the statements stays: comments, pragmas, and what `#if`
  // removes.
  std::string Statement(int node) const {
    const SyntaxNode& part = tree_.node(node);
    if (part.kind_name == kPragmaKind || !Depends(node)) return std::string(tree_.Text(node));
    if (part.kind_name == "CompoundStmt") return Within(node, part.range.begin, part.range.end);
    if (part.kind_name == "ForStmt") return Loop(node);
    if (part.kind_name == "DeclStmt" && BecomesArray(part.children.front())) return Array(part.children.front());
    bool stores = false;
    for (const int at : Subtree(tree_, node)) stores |= IsStore(tree_, at);
    std::string text = Copy(node, 0);
    for (std::size_t item = 1; item < names_.size(); ++item) {
      text += fmt::format("\n{}{}", IndentInside(node), stores ? Guarded(node, item) : Copy(node, item));
    }
    return text;
  }

 private:
  // Whether a variable becomes an array with one element for each item: a sum or the like, but no pointer, which other mutators
  // follow to the memory that it points to. All subscripts are literals, so that the elements are registers.
  bool BecomesArray(int declaration) const {
    const SyntaxNode& variable = tree_.node(declaration);
    const SyntaxNode& statement = tree_.node(variable.parent);
    if (!element_.dependent.contains(declaration) || declaration == element_.index.declaration) return false;
    if (statement.kind_name != "DeclStmt" || statement.children.size() != 1) return false;
    if (IsLocalArray(tree_, declaration)) return true;
    if (!written_.contains(declaration) || SizeOf(variable.type) == 0) return false;
    if (!HasInitialiser(declaration)) return tree_.Text(variable.parent).find_first_of("({") == std::string_view::npos;
    // Braces convert no variable of another type.
    const SyntaxNode& initial = tree_.node(variable.children.back());
    return initial.kind_name.ends_with("Literal") || WithoutConst(initial.type) == variable.type;
  }

  bool HasInitialiser(int declaration) const {
    const auto tokens = tree_.Tokens(tree_.node(declaration).range);
    return std::find(tokens.begin(), tokens.end(), "=") != tokens.end();
  }

  // `float sum[2] = {0.0f, 0.0f};` for `float sum = 0.0f;`.
  std::string Array(int declaration) const {
    const SourceRange whole = tree_.node(tree_.node(declaration).parent).range;
    const std::uint32_t name = NameIn(declaration).end;
    std::string text = fmt::format("{}[{}]", tree_.Text({whole.begin, name}), names_.size());
    if (!HasInitialiser(declaration)) return text + std::string(tree_.Text({name, whole.end}));
    const int initial = tree_.node(declaration).children.back();
    text += tree_.Text({name, tree_.node(initial).range.begin});
    for (std::size_t item = 0; item < names_.size(); ++item) text += (item == 0 ? "{" : ", ") + Copy(initial, item);
    return text + "}" + std::string(tree_.Text({tree_.node(initial).range.end, whole.end}));
  }

  // A statement that stores, for elements before the end.
  std::string Guarded(int node, std::size_t item) const {
    const SyntaxNode& part = tree_.node(node);
    if (part.kind_name != "IfStmt" || part.children.size() != 2)
      return fmt::format("if ({}) {{ {} }}", inside_[item], Copy(node, item));
    const int condition = part.children[0];
    const std::string_view spelled = tree_.Operator(condition);
    const bool weak = spelled == "||" || spelled == "=" || tree_.node(condition).kind_name == "ConditionalOperator";
    return fmt::format("if ({} && {}{}{}) {}", inside_[item], weak ? "(" : "", Copy(condition, item), weak ? ")" : "",
                       Copy(part.children[1], item));
  }

  // A name that occurs neither in the text nor among the names chosen so far.
  std::string Unused(const std::string& wanted) {
    std::string name = wanted;
    for (int number = 2; FreshName(tree_, name) != name || used_.contains(name); ++number)
      name = fmt::format("{}_{}", wanted, number);
    used_.insert(name);
    return name;
  }

  // The text from `begin` to `end`, which contains the children of a block.
  std::string Within(int block, std::uint32_t begin, std::uint32_t end) const {
    std::string text;
    for (const int child : tree_.node(block).children) {
      const SourceRange& range = tree_.node(child).range;
      text += tree_.Text({begin, range.begin});
      text += Statement(child);
      begin = range.end;
    }
    return text + std::string(tree_.Text({begin, end}));
  }

  // A loop; its body gets braces.
  std::string Loop(int node) const {
    const SyntaxNode& loop = tree_.node(node);
    const int body = loop.children.back();
    const SourceRange head{loop.range.begin, tree_.node(body).range.begin};
    if (tree_.node(body).kind_name == "CompoundStmt") return std::string(tree_.Text(head)) + Statement(body);
    std::string text(tree_.Text(head));
    const std::string_view last = tree_.Tokens(head).back();  // the `)`, which a comment may follow
    text.insert(static_cast<std::size_t>(last.data() + last.size() - tree_.Text(head).data()), " {");
    while (text.ends_with(' ') || text.ends_with('\n')) text.pop_back();
    return fmt::format("{}\n{}{}\n{}}}", text, IndentInside(body), Statement(body), IndentOf(tree_, node));
  }

  // The indentation of a statement that has a line of its own, or will get one because it is the body of a loop.
  std::string IndentInside(int node) const {
    const std::string indent = IndentOf(tree_, node);
    const std::uint32_t begin = tree_.node(node).range.begin;
    const bool first = begin == indent.size() || tree_.text()[begin - indent.size() - 1] == '\n';
    return first ? indent : indent + "  ";
  }

  // The text of a node with the variable names of one element.
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

  // The range of the name in a declaration.
  SourceRange NameIn(int declaration) const {
    const SyntaxNode& variable = tree_.node(declaration);
    for (const SourceRange& token : Tokenize(tree_.Text(declaration))) {
      const SourceRange range{variable.range.begin + token.begin, variable.range.begin + token.end};
      if (tree_.Text(range) == variable.name) return range;
    }
    return {variable.range.begin, variable.range.begin};
  }

  const SyntaxTree& tree_;
  const ElementKernel& element_;
  std::set<int> written_;                          // variables of the kernel
  std::vector<std::map<int, std::string>> names_;  // of each item, by declaration
  std::vector<std::string> inside_;
  std::set<std::string> used_;
};

class RegisterTile : public SourceMutator {
 public:
  std::string_view name() const override { return "register_tile"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override {
    return "lets a thread compute 2 or 4 elements at once, so that they share loads";
  }
  double weight() const override { return 2; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    return InPlainSource(context, Find, ThreadLoops::kOfElements);
  }

 private:
  static std::vector<Proposal> Find(const MutationContext& context) {
    std::vector<Proposal> proposals;
    for (const ThreadIndex& index : BlockIndices(context)) {
      const auto element = AsElementKernel(context, index);
      for (const int items : element ? std::vector<int>(kRegisterItems.begin(), kRegisterItems.end()) : std::vector<int>{})
        proposals.push_back(Tile(context.tree, *element, items));
    }
    return proposals;
  }

  static Proposal Tile(const SyntaxTree& tree, const ElementKernel& element, int items) {
    const Writer writer(tree, element, items);
    Proposal proposal;
    proposal.changes.push_back(
        {element.index.block, Placement::kReplace, fmt::format("(blockIdx.{} * {})", "xyz"[element.index.axis], items)});
    std::string lines;
    if (tree.node(element.statements.front()).parent == element.guard) {
      for (const std::string& line : writer.Indices()) lines += line + "\n";
      const int only = element.statements.front();
      std::string head(tree.Text({tree.node(element.guard).range.begin, tree.node(only).range.begin}));
      head.erase(head.find_last_not_of(" \t\n") + 1);
      proposal.changes.push_back(
          {element.guard, Placement::kReplace, Block(head, lines + writer.Statement(only), IndentOf(tree, element.guard))});
      proposal.launch.push_back(DividedGrid(tree, element.index, items));
      return proposal;
    }
    for (const std::string& line : writer.Indices())
      lines += LineBefore(tree, StatementOf(tree, element.statements.front()), line);
    proposal.changes.push_back({element.statements.front(), Placement::kBefore, std::move(lines)});
    for (const int statement : element.statements) {
      if (tree.node(statement).kind_name == kPragmaKind || !writer.Depends(statement)) continue;
      proposal.changes.push_back({statement, Placement::kReplace, writer.Statement(statement)});
      for (const int at : Subtree(tree, statement)) {
        if (tree.node(at).kind_name == "CompoundStmt") proposal.also_anchored.push_back(at);
      }
    }
    proposal.launch.push_back(DividedGrid(tree, element.index, items));
    return proposal;
  }

  // The loop after a pragma; other nodes as they are.
  static int StatementOf(const SyntaxTree& tree, int node) {
    if (tree.node(node).kind_name != kPragmaKind) return node;
    const auto& siblings = tree.node(tree.node(node).parent).children;
    return *(std::find(siblings.begin(), siblings.end(), node) + 1);
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeRegisterTile() { return std::make_unique<RegisterTile>(); }

}  // namespace evo
