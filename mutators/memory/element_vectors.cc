#include "mutators/memory/element_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "mutators/analysis/source/affine_index.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/element_kernel.h"
#include "mutators/analysis/source/indentation.h"
#include "mutators/analysis/source/memory_traffic.h"

namespace evo {
namespace {

constexpr std::array<int, 4> kElementsTogether{16, 8, 4, 2};
// What one instruction moves, and how much of one buffer a thread may take.
constexpr int kPieceBytes = 16, kMostBytes = 64;

// The uses of one element, `p[i + c]`, of the same text.
struct Group {
  std::vector<int> places;
  int root = -1;     // the parameter
  std::string type;  // of the element
  int bytes = 0;
  bool sure = false;   // used whatever data says
  int written = -1;    // the statement `p[i + c] = value;` that every element reaches; -1 if there is none
  bool reads = false;  // before it is written
  bool stores = false;
};

class ElementVectorWriter {
 public:
  ElementVectorWriter(const SyntaxTree& tree, const ElementKernel& element) : tree_(tree), element_(element) {
    const SyntaxNode& index = tree.node(element.index.declaration);
    name_ = index.name;
    first_ = FreshName(tree, "first_" + name_);
    item_ = FreshName(tree, "item");
  }

  // Whether there are accesses that vectors can make.
  bool Collect() {
    const auto form = AffineFormOf(tree_, tree_.node(element_.index.declaration).children.back(), {});
    if (!form || !HasFactorOne(*form, BuiltinSymbol("threadIdx", element_.index.axis))) return false;
    std::set<int> unclear;  // roots that are not only accessed as groups
    for (const int statement : element_.statements) {
      for (const int node : Subtree(tree_, statement)) {
        const SyntaxNode& at = tree_.node(node);
        if (at.opaque || (at.kind_name == "CallExpr" && at.name != "operator=" && !IsPure(tree_, node))) return false;
        const bool dereference = at.kind_name == "UnaryOperator" && tree_.Operator(node) == "*";
        if ((at.kind_name != "ArraySubscriptExpr" && !dereference) || PointerAt(tree_, node) < 0) continue;
        if (!AddTo(node, statement)) unclear.insert(RootOf(tree_, PointerAt(tree_, node)));
      }
    }
    std::map<int, int> groups_of;
    std::set<int> stored = TrafficOf(tree_, element_.index.kernel)->stored;
    if (unclear.contains(-1) && !stored.empty()) return false;
    for (const Group& group : groups_) ++groups_of[group.root];
    std::erase_if(groups_, [&](const Group& group) {
      if (!group.sure || group.bytes == 0 || (group.stores && group.written < 0)) return true;
      return stored.contains(group.root) && (groups_of[group.root] > 1 || unclear.contains(group.root));
    });
    return !groups_.empty();
  }

  // How many neighbouring elements a thread may take.
  bool Suits(int items) const {
    int least = kMostBytes, most = 0;
    for (const Group& group : groups_) least = std::min(least, group.bytes * items), most = std::max(most, group.bytes * items);
    return least >= 4 && least <= kPieceBytes && most <= kMostBytes;
  }

  Proposal Write(int items) const {
    const ThreadIndex& index = element_.index;
    const int body = tree_.node(index.statement).parent;
    const SourceRange whole = tree_.node(body).range;
    // The index's name stays with its declaration's type: first_i takes its place.
    const int sum = SumOf(index.thread);
    Texts texts{{NameIn(index.declaration), first_}, {tree_.node(sum).range, fmt::format("({}) * {}", tree_.Text(sum), items)}};
    const auto& guard = tree_.node(element_.guard).children;
    for (const auto& [use, text] : UsesAs(tree_, index.declaration, guard[0], first_))
      texts.emplace_back(tree_.node(use).range, text);
    const bool inside = IsWithin(tree_, element_.statements.front(), element_.guard);
    const std::uint32_t begin = inside ? tree_.node(guard[1]).range.begin : tree_.node(element_.statements.front()).range.begin;
    const std::string indent = IndentOf(tree_, index.statement), unit = IndentUnit(tree_);
    std::string text = Replaced({whole.begin, begin}, texts);
    if (inside) text.erase(text.find_last_not_of(" \t\n") + 1);
    text +=
        inside ? " {\n" + indent + unit + Elements(items, indent + unit) + "\n" + indent + "}\n" : Elements(items, indent) + "\n";
    text += IndentOf(tree_, body) + "}";
    Proposal proposal;
    proposal.indented = true;
    proposal.changes.push_back({body, Placement::kReplace, std::move(text)});
    proposal.launch.push_back(DividedGrid(tree_, index, items));
    return proposal;
  }

 private:
  using Texts = std::vector<std::pair<SourceRange, std::string>>;

  static bool HasFactorOne(const AffineForm& form, int symbol) {
    const auto factor = form.CoefficientOf(symbol);
    return factor && factor->IsConstant(1);
  }

  // Adds an access to its group. False if it is none that a vector can take the place of.
  bool AddTo(int node, int statement) {
    const auto found = AffineElementOf(tree_, node, {element_.index.declaration});
    if (!found || found->parameter < 0 || !HasFactorOne(found->index, element_.index.declaration)) return false;
    const int named = NamedDeclaration(tree_, tree_.node(node).children.front());
    if (tree_.node(node).kind_name != "ArraySubscriptExpr" || named < 0 || !IsSpelledOutside(node)) return false;
    // What the value is used for: read, stored, or changed.
    int use = node;
    while (tree_.node(tree_.node(use).parent).kind_name == "MemberRefExpr") use = tree_.node(use).parent;
    const int parent = tree_.node(use).parent;
    if (tree_.Operator(parent) == "&" && tree_.node(parent).children.size() == 1) return false;
    const bool read = tree_.node(use).converted;
    const bool assigned = Assigned(tree_, parent) == use && tree_.Operator(parent) == "=" && use == node;
    const bool changed = Assigned(tree_, parent) == use;
    if (!read && !changed && tree_.node(parent).kind_name != "CallExpr" && tree_.node(parent).kind_name != "VarDecl" &&
        tree_.node(parent).kind_name != "UnexposedExpr")
      return false;
    const auto same = std::find_if(groups_.begin(), groups_.end(),
                                   [&](const Group& g) { return tree_.Text(g.places.front()) == tree_.Text(node); });
    Group& group = same != groups_.end() ? *same : groups_.emplace_back();
    if (group.places.empty()) {
      group.root = found->parameter;
      group.type = WithoutConst(tree_.node(node).type);
      group.bytes = SizeOf(group.type);
    }
    group.places.push_back(node);
    const bool sure = IsSure(node, statement);
    group.sure |= sure;
    group.stores |= changed || (!read && tree_.node(parent).kind_name == "CallExpr" && tree_.node(parent).name == "operator=" &&
                                tree_.node(parent).children.front() == use);
    const bool plain = assigned || (tree_.node(parent).kind_name == "CallExpr" && tree_.node(parent).name == "operator=" &&
                                    tree_.node(parent).children.front() == use && use == node);
    if (plain && sure && group.written < 0) group.written = parent;
    if (changed && !plain && sure && group.written < 0) group.written = parent;
    // A value that is read, or changed in part, must be there before.
    if (!plain) group.reads |= group.written < 0 || IsWithin(tree_, node, group.written) || changed;
    return true;
  }

  // Whether every element's thread evaluates a node once.
  bool IsSure(int node, int statement) const {
    const int block = tree_.node(statement).parent;
    return IsUnconditional(tree_, node, block == element_.guard ? statement : block);
  }

  // Whether an access can be written in front of the loop over elements: its variables are the index, those declared before, and
  // those whose initialisers can be written in their place.
  bool IsSpelledOutside(int node) const {
    for (const int at : Subtree(tree_, node)) {
      if (tree_.node(at).opaque || !tree_.node(at).hidden.empty()) return false;
    }
    for (const int named : NamedIn(tree_, node)) {
      if (!IsInElements(named)) continue;
      const SyntaxNode& variable = tree_.node(named);
      if (variable.children.empty() || !IsIntegerType(variable.type) || !IsPure(tree_, variable.children.back()) ||
          LoadsIn(tree_, variable.children.back()) || !IsSpelledOutside(variable.children.back()))
        return false;
    }
    return true;
  }

  bool IsInElements(int declaration) const {
    return std::any_of(element_.statements.begin(), element_.statements.end(),
                       [&](int statement) { return IsWithin(tree_, declaration, statement); });
  }

  // The text of an expression for the first element, without variables that the elements declare.
  std::string Outside(int node) const {
    Texts texts;
    for (const int at : Subtree(tree_, node)) {
      const int named = tree_.node(at).kind_name == "DeclRefExpr" ? tree_.node(at).refers_to : -1;
      if (named < 0) continue;
      if (named == element_.index.declaration) texts.emplace_back(tree_.node(at).range, first_);
      if (!IsInElements(named)) continue;
      const int value = tree_.node(named).children.back();
      const std::string type = WithoutConst(tree_.node(named).type);
      const bool same = WithoutConst(tree_.node(value).type) == type;
      texts.emplace_back(tree_.node(at).range, same ? "(" + Outside(value) + ")" : fmt::format("({})({})", type, Outside(value)));
    }
    return Replaced(tree_.node(node).range, texts);
  }

  std::string Replaced(SourceRange range, Texts texts) const {
    std::string text(tree_.Text(range));
    std::sort(texts.begin(), texts.end(), [](const auto& a, const auto& b) { return a.first.begin > b.first.begin; });
    for (const auto& [at, replacement] : texts) {
      if (at.begin >= range.begin && at.end <= range.end) text.replace(at.begin - range.begin, at.size(), replacement);
    }
    return text;
  }

  // The sum of which threadIdx is a part.
  int SumOf(int thread) const { return tree_.node(thread).parent; }

  SourceRange NameIn(int declaration) const {
    const SyntaxNode& variable = tree_.node(declaration);
    for (const SourceRange& token : Tokenize(tree_.Text(declaration))) {
      const SourceRange range{variable.range.begin + token.begin, variable.range.begin + token.end};
      if (tree_.Text(range) == variable.name) return range;
    }
    return {variable.range.begin, variable.range.begin};
  }

  std::string NameOf(std::size_t group) const {
    return FreshName(tree_, groups_.size() > 1 ? fmt::format("items_{}", group) : "items");
  }

  // All elements at once where that is possible, else one by one.
  std::string Elements(int items, const std::string& indent) const {
    const std::string unit = IndentUnit(tree_), deeper = indent + unit;
    std::string condition = fmt::format("{} + {} < {}", first_, items - 1, element_.bound), before, after;
    std::vector<std::pair<SourceRange, std::string>> places;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const Group& group = groups_[i];
      const std::string name = NameOf(i), address = "&" + Outside(group.places.front());
      const int bytes = group.bytes * items, piece = std::min(bytes, kPieceBytes);
      const std::string vector = VectorName(group.type, piece);
      condition +=
          fmt::format(" &&\n{}{}{}reinterpret_cast<unsigned long long>({}) % {} == 0", indent, unit, unit, address, piece);
      before += fmt::format("{}alignas({}) {} {}[{}];\n", deeper, piece, group.type, name, items);
      for (int at = 0; at < bytes / piece; ++at) {
        const std::string kept = fmt::format("reinterpret_cast<{}*>({})[{}]", vector, name, at);
        if (group.reads || !group.stores)
          before += fmt::format("{}{} = reinterpret_cast<const {}*>({})[{}];\n", deeper, kept, vector, address, at);
        if (group.stores) after += fmt::format("{}reinterpret_cast<{}*>({})[{}] = {};\n", deeper, vector, address, at, kept);
      }
      for (const int place : group.places) places.emplace_back(tree_.node(place).range, fmt::format("{}[{}]", name, item_));
    }
    const SourceRange statements{Begin(), tree_.node(element_.statements.back()).range.end};
    const std::string declared = WithoutConst(tree_.node(element_.index.declaration).type);
    const std::uint32_t semicolon = statements.end < tree_.text().size() && tree_.text()[statements.end] == ';' ? 1 : 0;
    const SourceRange all{statements.begin, statements.end + semicolon};
    const auto lines = [&](const Texts& texts) {
      const std::string at = IndentOf(tree_, element_.statements.front());
      std::string text = Replaced(all, texts);
      // To where the loops' bodies stand.
      std::string moved;
      for (std::size_t from = 0; from < text.size();) {
        const std::size_t end = std::min(text.find('\n', from), text.size());
        std::string line = text.substr(from, end - from);
        if (from > 0 && line.starts_with(at)) line = line.substr(at.size());
        if (!line.empty()) moved += (line[0] == '#' ? "" : deeper + unit) + line;
        moved += "\n";
        from = end + 1;
      }
      return moved;
    };
    return fmt::format(
        "if ({}) {{\n{}#pragma unroll\n{}for (int {} = 0; {} < {}; ++{}) {{\n{}const {} {} = {} + {};\n{}{}}}\n{}{}}} else {{\n"
        "{}for ({} {} = {}; {} < {} && {} < {} + {}; ++{}) {{\n{}{}}}\n{}}}",
        condition, before, deeper, item_, item_, items, item_, deeper + unit, declared, name_, first_, item_, lines(places),
        deeper, after, indent, deeper, declared, name_, first_, name_, element_.bound, name_, first_, items, name_, lines({}),
        deeper, indent);
  }

  std::uint32_t Begin() const { return tree_.node(element_.statements.front()).range.begin; }

  static std::string VectorName(const std::string& type, int bytes) {
    if (type == "float") return bytes == 16 ? "float4" : bytes == 8 ? "float2" : "float";
    if (type == "double") return bytes == 16 ? "double2" : "double";
    if (type == "int") return bytes == 16 ? "int4" : bytes == 8 ? "int2" : "int";
    return bytes == 16 ? "uint4" : bytes == 8 ? "uint2" : "unsigned int";
  }

  const SyntaxTree& tree_;
  const ElementKernel& element_;
  std::vector<Group> groups_;
  std::string name_, first_, item_;
};

}  // namespace

std::vector<Proposal> ElementVectors(const MutationContext& context) {
  std::vector<Proposal> proposals;
  for (const ThreadIndex& index : ThreadIndices(context)) {
    const auto element = AsElementKernel(context, index);
    if (!element || Cooperates(context.tree, index.kernel)) continue;
    ElementVectorWriter writer(context.tree, *element);
    if (!writer.Collect()) continue;
    for (const int items : kElementsTogether) {
      if (writer.Suits(items)) proposals.push_back(writer.Write(items));
    }
  }
  return proposals;
}

}  // namespace evo
