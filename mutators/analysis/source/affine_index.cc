#include "mutators/analysis/source/affine_index.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

constexpr std::array kBuiltins{"threadIdx"sv, "blockIdx"sv, "blockDim"sv, "gridDim"sv};
// Bounds how deep variables are followed to their initialisers.
constexpr int kAffineDepth = 12;
// The symbol of how many elements after a cast one before it takes. No declaration and no built-in variable has this number.
constexpr int kBeforeCast = std::numeric_limits<int>::min();

bool IsAffineCast(const SyntaxTree& tree, int node) {
  const SyntaxNode& cast = tree.node(node);
  constexpr std::array kCasts{"CStyleCastExpr"sv, "CXXStaticCastExpr"sv, "CXXFunctionalCastExpr"sv};
  if (std::find(kCasts.begin(), kCasts.end(), cast.kind_name) == kCasts.end() || cast.children.empty()) return false;
  const auto is_whole = [](const std::string& type) {
    if (type == "<pseudo-object type>") return true;  // of blockIdx.x and the like
    return IsArithmetic(WithoutConst(type)) && type != "float" && type != "double";
  };
  return is_whole(cast.type) && is_whole(tree.node(cast.children.back()).type);
}

class AffineReader {
 public:
  AffineReader(const SyntaxTree& tree, const std::set<int>& atoms, bool behind_casts = false)
      : tree_(tree), atoms_(atoms), behind_casts_(behind_casts) {}

  std::optional<AffineForm> Form(int expression, int depth) const {
    expression = WithoutParentheses(tree_, expression);
    const SyntaxNode& node = tree_.node(expression);
    if (depth == 0) return std::nullopt;
    if (const int declaration = NamedDeclaration(tree_, expression); declaration >= 0) return OfVariable(declaration, depth);
    if (node.kind_name == "MemberRefExpr") return OfBuiltin(expression);
    if (IsAffineCast(tree_, expression)) return Form(node.children.back(), depth);
    const std::string_view spelled = tree_.Operator(expression);
    if (node.children.size() == 2 && (spelled == "+" || spelled == "-" || spelled == "*") && node.kind_name == "BinaryOperator") {
      const auto left = Form(node.children[0], depth), right = Form(node.children[1], depth);
      if (!left || !right) return std::nullopt;
      return spelled == "*" ? left->TimesForm(*right) : left->Plus(*right, spelled == "+" ? 1 : -1);
    }
    if (node.kind_name == "UnaryOperator" && spelled == "-" && node.children.size() == 1) {
      const auto operand = Form(node.children[0], depth);
      return operand ? std::optional(AffineForm::Constant(0).Plus(*operand, -1)) : std::nullopt;
    }
    const auto value = ConstantValue(tree_, tree_.Text(expression));
    return value ? std::optional(AffineForm::Constant(*value)) : std::nullopt;
  }

  std::optional<AffineElement> Pointer(int pointer, int depth) const {
    pointer = WithoutParentheses(tree_, pointer);
    const SyntaxNode& node = tree_.node(pointer);
    if (depth == 0) return std::nullopt;
    if (const int declaration = NamedDeclaration(tree_, pointer); declaration >= 0) {
      const SyntaxNode& variable = tree_.node(declaration);
      if (variable.function < 0 || WrittenIn(tree_, variable.function).contains(declaration)) return std::nullopt;
      if (variable.kind_name == "ParmDecl") return AffineElement{declaration, {}};
      if (variable.kind_name != "VarDecl" || variable.children.empty() || variable.type.find('*') == std::string::npos)
        return std::nullopt;
      return Pointer(variable.children.back(), depth - 1);
    }
    if (behind_casts_ && IsPointerCast(node)) {
      auto element = Pointer(node.children.back(), depth);
      if (element) element->index = element->index.TimesForm(AffineForm::Symbol(kBeforeCast));
      return element;
    }
    const std::string_view spelled = tree_.Operator(pointer);
    if (node.kind_name == "UnaryOperator" && spelled == "&" && node.children.size() == 1)
      return Element(WithoutParentheses(tree_, node.children[0]), depth);
    if (node.kind_name != "BinaryOperator" || node.children.size() != 2 || (spelled != "+" && spelled != "-"))
      return std::nullopt;
    int base = node.children[0], offset = node.children[1];
    if (spelled == "+" && tree_.node(base).type.find('*') == std::string::npos) std::swap(base, offset);
    return Moved(base, offset, spelled == "+" ? 1 : -1, depth);
  }

  std::optional<AffineElement> Element(int access, int depth) const {
    const SyntaxNode& node = tree_.node(access);
    if (node.kind_name == "UnaryOperator" && tree_.Operator(access) == "*" && node.children.size() == 1)
      return Pointer(node.children[0], depth);
    if (node.kind_name != "ArraySubscriptExpr" || node.children.size() != 2) return std::nullopt;
    return Moved(node.children[0], node.children[1], 1, depth);
  }

 private:
  static bool IsPointerCast(const SyntaxNode& node) {
    const bool cast = node.kind_name == "CXXReinterpretCastExpr" || node.kind_name == "CStyleCastExpr";
    return cast && node.type.ends_with("*") && !node.children.empty();
  }

  std::optional<AffineElement> Moved(int base, int offset, int sign, int depth) const {
    auto element = Pointer(base, depth);
    const auto by = Form(offset, depth);
    if (!element || !by) return std::nullopt;
    element->index = element->index.Plus(*by, sign);
    return element;
  }

  std::optional<AffineForm> OfVariable(int declaration, int depth) const {
    const SyntaxNode& variable = tree_.node(declaration);
    if (atoms_.contains(declaration)) return AffineForm::Symbol(declaration);
    if (!IsArithmetic(WithoutConst(variable.type)) || variable.type.find("float") != std::string::npos ||
        variable.type.find("double") != std::string::npos)
      return std::nullopt;
    if (variable.function < 0) {
      const auto value = ConstantValue(tree_, variable.name);
      return value ? std::optional(AffineForm::Constant(*value)) : std::nullopt;
    }
    if (WrittenIn(tree_, variable.function).contains(declaration)) return std::nullopt;
    if (variable.kind_name == "ParmDecl") return AffineForm::Symbol(declaration);
    if (variable.kind_name != "VarDecl" || variable.children.empty()) return std::nullopt;
    return Form(variable.children.back(), depth - 1);
  }

  std::optional<AffineForm> OfBuiltin(int member) const {
    const std::string_view text = tree_.Text(member);
    for (const std::string_view builtin : kBuiltins) {
      if (text.size() != builtin.size() + 2 || !text.starts_with(builtin)) continue;
      const std::size_t axis = "xyz"sv.find(text.back());
      if (axis != std::string_view::npos) return AffineForm::Symbol(BuiltinSymbol(builtin, axis));
    }
    return std::nullopt;
  }

  const SyntaxTree& tree_;
  const std::set<int>& atoms_;
  const bool behind_casts_;
};

}  // namespace

AffineForm AffineForm::Constant(std::int64_t value) {
  AffineForm form;
  if (value != 0) form.terms_[{}] = value;
  return form;
}

AffineForm AffineForm::Symbol(int symbol) {
  AffineForm form;
  form.terms_[{symbol}] = 1;
  return form;
}

AffineForm AffineForm::Plus(const AffineForm& other, std::int64_t factor) const {
  AffineForm sum = *this;
  for (const auto& [product, count] : other.terms_) {
    // In 64 bits that wrap, as the sums of the kernel do: forms are compared, never evaluated.
    auto& term = sum.terms_[product];
    term = static_cast<std::int64_t>(static_cast<std::uint64_t>(term) +
                                     static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(factor));
    if (term == 0) sum.terms_.erase(product);
  }
  return sum;
}

AffineForm AffineForm::TimesForm(const AffineForm& other) const {
  AffineForm result;
  for (const auto& [left, count] : terms_) {
    AffineForm part;
    for (const auto& [right, times] : other.terms_) {
      Product product = left;
      product.insert(product.end(), right.begin(), right.end());
      std::sort(product.begin(), product.end());
      part.terms_[product] = times;
    }
    result = result.Plus(part, count);
  }
  return result;
}

std::optional<AffineForm> AffineForm::DividedBy(const AffineForm& by) const {
  if (by.terms_.size() != 1) return std::nullopt;
  const auto& [divisor, count] = *by.terms_.begin();
  AffineForm quotient;
  for (const auto& [product, times] : terms_) {
    Product left = product;
    for (const int symbol : divisor) {
      const auto at = std::find(left.begin(), left.end(), symbol);
      if (at == left.end()) return std::nullopt;
      left.erase(at);
    }
    if (times % count != 0) return std::nullopt;
    quotient.terms_[left] = times / count;
  }
  return quotient;
}

std::optional<AffineForm> AffineForm::CoefficientOf(int symbol) const {
  AffineForm coefficient;
  for (const auto& [product, count] : terms_) {
    const auto times = std::count(product.begin(), product.end(), symbol);
    if (times > 1) return std::nullopt;
    if (times == 0) continue;
    Product rest = product;
    std::erase(rest, symbol);
    coefficient.terms_[rest] = count;
  }
  return coefficient;
}

bool AffineForm::Contains(int symbol) const { return Symbols().contains(symbol); }

bool AffineForm::IsConstant(std::int64_t value) const { return *this == Constant(value); }

std::set<int> AffineForm::Symbols() const {
  std::set<int> symbols;
  for (const auto& [product, count] : terms_) symbols.insert(product.begin(), product.end());
  return symbols;
}

int BuiltinSymbol(std::string_view builtin, std::size_t axis) {
  const auto place = std::find(kBuiltins.begin(), kBuiltins.end(), builtin) - kBuiltins.begin();
  return -2 - static_cast<int>(3 * place) - static_cast<int>(axis);
}

std::optional<AffineForm> AffineFormOf(const SyntaxTree& tree, int expression, const std::set<int>& atoms) {
  return AffineReader(tree, atoms).Form(expression, kAffineDepth);
}

std::optional<AffineElement> AffineElementOf(const SyntaxTree& tree, int access, const std::set<int>& atoms) {
  return AffineReader(tree, atoms).Element(access, kAffineDepth);
}

std::optional<AffineElement> AffineElementBehindCasts(const SyntaxTree& tree, int access, const std::set<int>& atoms) {
  return AffineReader(tree, atoms, true).Element(access, kAffineDepth);
}

}  // namespace evo
