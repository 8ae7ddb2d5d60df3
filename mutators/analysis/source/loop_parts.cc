#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/dependence.h"
#include "mutators/analysis/source/global_memory.h"

namespace evo {
namespace {

// What a part of a loop reads and writes.
class Touched {
 public:
  Touched(const MutationContext& context, const LoopPart& part) : context_(context), tree_(context.tree), part_(part) {
    for (const int node : part.nodes) {
      if (JumpsOut(tree_, node)) understood_ = false;
      for (const int at : Subtree(tree_, node)) Note(at);
      for (const int declaration : NamedIn(tree_, node)) {
        if (declaration != part.counter) named_.insert(declaration);
      }
    }
  }

  bool IsApartFrom(const Touched& other) const {
    if (!understood_ || !other.understood_) return false;
    if (Meets(written_, other.named_) || Meets(other.written_, named_)) return false;
    if ((stores_ && (other.stores_ || other.reads_)) || (other.stores_ && reads_)) return false;
    for (const Element& ours : elements_) {
      if (std::any_of(other.elements_.begin(), other.elements_.end(), [&](const Element& theirs) { return Meet(ours, theirs); }))
        return false;
    }
    return true;
  }

 private:
  // A use of an element of an own array. Positions of subscripts are counted from the last.
  struct Element {
    int array = -1;
    bool filled = false;
    std::set<int> counters;               // positions of the subscripts that are the counter itself
    std::map<int, std::string> literals;  // subscripts that are literals
  };

  // Whether two uses may be of one element in different iterations, and one of them fills it.
  static bool Meet(const Element& a, const Element& b) {
    if (a.array != b.array || (!a.filled && !b.filled) || Meets(a.counters, b.counters)) return false;
    return std::none_of(a.literals.begin(), a.literals.end(), [&](const auto& literal) {
      const auto other = b.literals.find(literal.first);
      return other != b.literals.end() && other->second != literal.second;
    });
  }

  static bool Meets(const std::set<int>& a, const std::set<int>& b) {
    return std::any_of(a.begin(), a.end(), [&](int x) { return b.contains(x); });
  }

  void Note(int at) {
    const SyntaxNode& node = tree_.node(at);
    if (node.opaque || node.kind_name == "LambdaExpr" || node.kind_name.find("Asm") != std::string::npos) understood_ = false;
    if (node.kind_name == "attribute(shared)" || (node.kind_name == "CallExpr" && !IsPure(tree_, at))) understood_ = false;
    if (node.kind_name == "DeclRefExpr" && node.refers_to >= 0 && !node.type.ends_with("]") &&
        IsMemoryName(tree_, node.refers_to))
      understood_ = false;
    if (IsAssignment(tree_, at) || IsCount(tree_, at)) {
      const int target = node.children.front();
      if (const int named = NamedDeclaration(tree_, target); named >= 0) {
        written_.insert(named);
      } else {
        NoteElement(target, true);
      }
    }
    const bool element =
        node.kind_name == "ArraySubscriptExpr" || (node.kind_name == "UnaryOperator" && tree_.Operator(at) == "*");
    if (element && node.converted && !node.type.ends_with("]")) NoteElement(at, false);
  }

  void NoteElement(int element, bool filled) {
    const int root = ArrayOf(tree_, element);
    if (root >= 0 && IsOwnArray(tree_, root)) {
      elements_.push_back(ElementOf(root, element, filled));
      return;
    }
    const bool subscript = tree_.node(element).kind_name == "ArraySubscriptExpr";
    const int base = tree_.node(element).children.empty() ? -1 : tree_.node(element).children.front();
    if (filled) {
      stores_ = true;
      if (!subscript || !IsGlobal(tree_, context_.rendered, base)) understood_ = false;
    } else if (base < 0 || !IsReadOnlyGlobal(tree_, context_.rendered, base)) {
      reads_ = true;
    }
  }

  Element ElementOf(int array, int element, bool filled) const {
    Element use{array, filled, {}, {}};
    int place = 0;
    for (int at = element; tree_.node(at).kind_name == "ArraySubscriptExpr"; at = tree_.node(at).children[0], ++place) {
      const int subscript = tree_.node(at).children[1];
      if (NamedDeclaration(tree_, subscript) == part_.counter) use.counters.insert(place);
      if (IsNumber(tree_.Text(subscript))) use.literals.emplace(place, tree_.Text(subscript));
    }
    return use;
  }

  // A decimal number without leading zeros and suffix, so that different texts are different numbers.
  static bool IsNumber(std::string_view text) {
    const bool digits = text.find_first_not_of("0123456789") == std::string_view::npos;
    return !text.empty() && digits && (text.size() == 1 || text.front() != '0');
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  const LoopPart& part_;
  bool understood_ = true;
  bool stores_ = false;  // to global memory
  bool reads_ = false;   // from memory that may be written
  std::set<int> named_;
  std::set<int> written_;
  std::vector<Element> elements_;
};

}  // namespace

bool AreApart(const MutationContext& context, const LoopPart& first, const LoopPart& second) {
  return Touched(context, first).IsApartFrom(Touched(context, second));
}

}  // namespace evo
