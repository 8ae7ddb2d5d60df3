#include "import/subscript_extents.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace evo {
namespace {

constexpr int kMostVariables = 6;       // that stand for one another
constexpr std::size_t kMostTerms = 16;  // of one subscript

// A product by the nodes of its factors, and a sum of such.
using SubscriptTerm = std::vector<int>;
using SubscriptSum = std::vector<SubscriptTerm>;

void AddTo(SubscriptSum& sum, const SubscriptSum& other) { sum.insert(sum.end(), other.begin(), other.end()); }

SubscriptSum ProductOf(const SubscriptSum& left, const SubscriptSum& right) {
  SubscriptSum product;
  for (const SubscriptTerm& one : left) {
    for (const SubscriptTerm& other : right) {
      product.push_back(one);
      product.back().insert(product.back().end(), other.begin(), other.end());
    }
  }
  return product;
}

// The same for sums of the same terms.
std::string KeyOfSum(const SyntaxTree& tree, const SubscriptSum& sum) {
  std::vector<std::string> terms;
  for (const SubscriptTerm& term : sum) {
    std::vector<std::string> factors;
    for (const int leaf : term) {
      const int declaration = tree.node(leaf).refers_to;
      factors.push_back(declaration >= 0 ? fmt::format("{}", declaration) : std::string(tree.Text(leaf)));
    }
    std::sort(factors.begin(), factors.end());
    terms.push_back(fmt::format("{}", fmt::join(factors, " * ")));
  }
  std::sort(terms.begin(), terms.end());
  return fmt::format("{}", fmt::join(terms, " + "));
}

// Parentheses and casts.
bool IsAroundExpression(const SyntaxNode& node) {
  const std::string& kind = node.kind_name;
  return kind == "ParenExpr" || kind == "UnexposedExpr" || kind.find("Cast") != std::string::npos;
}

class SubscriptReader {
 public:
  SubscriptReader(const SyntaxTree& tree, const ProgramFunction& kernel) : tree_(tree), kernel_(kernel) {}

  // Names of extents, the outermost first, by each subscript that shows all of them.
  std::vector<std::vector<std::string>> Run(int pointer) {
    ReadBounds();
    Follow(pointer, {}, 0);
    return std::move(shapes_);
  }

 private:
  const SyntaxNode& Node(int index) const { return tree_.node(index); }
  bool IsFirst(int node) const { return Node(Node(node).parent).children.front() == node; }
  int Bare(int node) const {
    while (IsAroundExpression(Node(node)) && !Node(node).children.empty()) node = Node(node).children.back();
    return node;
  }

  bool IsParameter(int leaf) const {
    const int declaration = Node(leaf).refers_to;
    return declaration >= 0 && Node(declaration).kind_name == "ParmDecl" && Node(declaration).type.find('*') == std::string::npos;
  }

  // Whether anything but its declaration may set a variable.
  bool IsChanged(int declaration) const {
    const auto uses = tree_.UsesOf(declaration);
    return std::any_of(uses.begin(), uses.end(), [&](int at) {
      const int parent = Node(at).parent;
      const std::string_view op = tree_.Operator(parent);
      const bool sets = Node(parent).kind_name == "CompoundAssignOperator" || op == "=";
      return (sets && IsFirst(at)) || op == "++" || op == "--" || op == "&";
    });
  }

  int InitialiserOf(int declaration) const {
    const bool variable = declaration >= 0 && Node(declaration).kind_name == "VarDecl" && !Node(declaration).children.empty();
    const bool set = variable && tree_.Text(declaration).find('=') != std::string_view::npos;
    return set && !IsChanged(declaration) ? Node(declaration).children.back() : -1;
  }

  // A sum of products. A variable that is set once to something that has rows, `row * n + i`, is that.
  SubscriptSum SumOf(int node, int depth) const {
    node = Bare(node);
    const bool binary = Node(node).kind_name == "BinaryOperator" && Node(node).children.size() == 2;
    const std::string_view op = binary ? tree_.Operator(node) : std::string_view();
    if (op == "+" || op == "*") {
      SubscriptSum left = SumOf(Node(node).children[0], depth);
      const SubscriptSum right = SumOf(Node(node).children[1], depth);
      if (left.size() * right.size() > kMostTerms) return {{node}};
      if (op == "*") return ProductOf(left, right);
      AddTo(left, right);
      return left;
    }
    const int initialiser = depth < kMostVariables ? InitialiserOf(Node(node).refers_to) : -1;
    if (initialiser < 0) return {{node}};
    SubscriptSum sum = SumOf(initialiser, depth + 1);
    return std::any_of(sum.begin(), sum.end(), [&](const auto& term) { return HasRows(term); }) ? sum : SubscriptSum{{node}};
  }

  bool HasRows(const SubscriptTerm& term) const {
    return term.size() > 1 && std::any_of(term.begin(), term.end(), [&](int leaf) { return IsParameter(leaf); });
  }

  // The length of rows: the declaration of the last factor that is a parameter and is in all terms with rows; -1 if there is
  // none.
  int LengthOf(const SubscriptSum& sum) const {
    const auto of = [&](const SubscriptTerm& term, int declaration) {
      return std::any_of(term.begin(), term.end(), [&](int leaf) { return Node(leaf).refers_to == declaration; });
    };
    const auto rows = std::find_if(sum.begin(), sum.end(), [&](const auto& term) { return HasRows(term); });
    if (rows == sum.end()) return -1;
    for (auto leaf = rows->rbegin(); leaf != rows->rend(); ++leaf) {
      const int row = Node(*leaf).refers_to;
      const bool in_all =
          std::all_of(sum.begin(), sum.end(), [&](const SubscriptTerm& term) { return !HasRows(term) || of(term, row); });
      if (IsParameter(*leaf) && in_all) return row;
    }
    return -1;
  }

  // Empty if some dimension is not known.
  std::vector<std::string> DimensionsOf(const SubscriptSum& sum) const {
    std::vector<std::string> dimensions = RowsOf(sum);
    return dimensions.empty() ? BoundOf(sum) : dimensions;
  }

  std::vector<std::string> RowsOf(const SubscriptSum& sum) const {
    const int row = LengthOf(sum);
    if (row < 0) return {};
    SubscriptSum outer;
    for (SubscriptTerm term : sum) {
      const auto factor = std::find_if(term.rbegin(), term.rend(), [&](int leaf) { return Node(leaf).refers_to == row; });
      if (factor == term.rend()) continue;  // within a row
      term.erase(std::next(factor).base());
      if (term.empty()) return {};
      outer.push_back(std::move(term));
    }
    std::vector<std::string> dimensions = DimensionsOf(outer);
    if (!dimensions.empty()) dimensions.push_back(Node(row).name);
    return dimensions;
  }

  // The parameters, or a product of them, below which the kernel keeps a sum, or the grid of the block's index that it is.
  std::vector<std::string> BoundOf(const SubscriptSum& sum) const {
    std::vector<std::string> bound;
    for (const auto& [compared, names] : bounds_) {
      if (compared != KeyOfSum(tree_, sum)) continue;
      if (!bound.empty() && bound != names) return {};
      bound = names;
    }
    if (!bound.empty() || sum.size() != 1 || sum[0].size() != 1) return bound;
    const int leaf = sum[0][0];
    const int initialiser = InitialiserOf(Node(leaf).refers_to);
    const std::string_view index = tree_.Text(initialiser < 0 ? leaf : Bare(initialiser));
    if (index == "blockIdx.x" || index == "blockIdx.y" || index == "blockIdx.z")
      bound.push_back(fmt::format("gridDim{}", index.substr(8)));
    return bound;
  }

  void ReadBounds() {
    for (int node = kernel_.node; node < tree_.EndOf(kernel_.node); ++node) {
      const std::string_view op = tree_.Operator(node);
      const bool left = op == "<" || op == ">=";
      if ((!left && op != ">" && op != "<=") || Node(node).children.size() != 2) continue;
      const SubscriptSum bound = SumOf(Node(node).children[left ? 1 : 0], 0);
      if (bound.size() != 1 || !std::all_of(bound[0].begin(), bound[0].end(), [&](int leaf) { return IsParameter(leaf); }))
        continue;
      std::vector<std::string> names;
      for (const int leaf : bound[0]) names.push_back(Node(Node(leaf).refers_to).name);
      bounds_.emplace_back(KeyOfSum(tree_, SumOf(Node(node).children[left ? 0 : 1], 0)), std::move(names));
    }
  }

  // The subscripts of a pointer that stands `before` elements behind what the kernel gets, and of those that are made of it.
  void Follow(int declaration, const SubscriptSum& before, int depth) {
    if (depth > kMostVariables) return;
    for (int at : tree_.UsesOf(declaration)) {
      SubscriptSum sum = before;
      bool element = false;
      for (int parent = Node(at).parent; parent > kernel_.node; at = parent, parent = Node(at).parent) {
        const std::vector<int>& children = Node(parent).children;
        const std::string_view op = tree_.Operator(parent);
        const bool subscript = Node(parent).kind_name == "ArraySubscriptExpr" && IsFirst(at) && children.size() == 2;
        if (!element && (subscript || op == "+")) {
          AddTo(sum, SumOf(children[IsFirst(at) ? 1 : 0], 0));
          element = subscript;
        } else if (op == "*" && children.size() == 1) {
          element = true;
        } else if (op == "&" && children.size() == 1) {
          element = false;
        } else if (!IsAroundExpression(Node(parent))) {
          if (!element && Node(parent).kind_name == "VarDecl" && !IsChanged(parent)) Follow(parent, sum, depth + 1);
          break;
        }
      }
      if (element && !sum.empty()) Take(DimensionsOf(sum));
    }
  }

  void Take(std::vector<std::string> shape) {
    if (!shape.empty() && std::find(shapes_.begin(), shapes_.end(), shape) == shapes_.end()) shapes_.push_back(std::move(shape));
  }

  const SyntaxTree& tree_;
  const ProgramFunction& kernel_;
  std::vector<std::pair<std::string, std::vector<std::string>>> bounds_;  // of sums
  std::vector<std::vector<std::string>> shapes_;
};

// What is a size of the draft, or made of some; empty for anything else.
std::string InSizesOf(const SubscriptExtent& extent, const DraftNames& names, const TaskDraft& draft) {
  if (!extent.value || !extent.value->IsKnown()) return names.IsSize(extent.name) ? extent.name : "";
  const HostExpression value = names.InSizes(*extent.value, draft);
  const auto others = value.Names();
  // A number that the host passes may be a size, which has the parameter's name.
  const auto number = ValueOf(value, {});
  for (const DraftSize& size : draft.sizes) {
    if (others.empty() && number && size.name == extent.name && static_cast<double>(size.value) == number->AsReal())
      return size.name;
  }
  return std::all_of(others.begin(), others.end(), [&](const auto& one) { return names.IsSize(one); }) ? value.Text() : "";
}

}  // namespace

std::vector<SubscriptShape> ShapesBySubscripts(const SourceProgram& program, const TakenLaunch& launch, std::size_t parameter) {
  const auto extent_of = [&](const std::string& name) -> SubscriptExtent {
    if (name.starts_with("gridDim.")) {
      const auto axis = static_cast<std::size_t>(name.back() - 'x');
      return {name, axis < launch.grid.size() ? std::optional(launch.grid[axis]) : std::nullopt};
    }
    const auto value = launch.values.find(name);
    return {name, value == launch.values.end() ? std::nullopt : std::optional(value->second)};
  };
  std::vector<SubscriptShape> shapes;
  SubscriptReader reader(program.tree(), *launch.kernel);
  for (const std::vector<std::string>& names : reader.Run(launch.kernel->parameters[parameter].node)) {
    SubscriptShape& shape = shapes.emplace_back();
    for (const std::string& name : names) shape.push_back(extent_of(name));
  }
  return shapes;
}

std::vector<std::string> AgreedShape(const std::vector<SubscriptShape>& shapes, const DraftNames& names, const TaskDraft& draft) {
  std::vector<std::string> agreed;
  for (const SubscriptShape& one : shapes) {
    std::vector<std::string> shape;
    for (const SubscriptExtent& extent : one) shape.push_back(InSizesOf(extent, names, draft));
    if (std::find(shape.begin(), shape.end(), "") != shape.end()) continue;
    // One subscript may go through all elements, and another one through rows of them.
    const bool flat = shape.size() == 1 && shape[0] == fmt::format("{}", fmt::join(agreed, " * "));
    const bool rows = agreed.size() == 1 && agreed[0] == fmt::format("{}", fmt::join(shape, " * "));
    if (!agreed.empty() && shape != agreed && !flat && !rows) return {};
    if (agreed.empty() || rows) agreed = std::move(shape);
  }
  return agreed;
}

}  // namespace evo
