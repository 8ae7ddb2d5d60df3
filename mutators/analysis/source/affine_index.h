#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "syntax/syntax_tree.h"

namespace evo {

// A polynomial with integer coefficients: `row * depth + k` has the products {row, depth} and {k}, each once. A symbol is the
// node of a declaration, or a member of a built-in variable (BuiltinSymbol). The product of no symbols stands for the constant.
class AffineForm {
 public:
  using Product = std::vector<int>;  // symbols, ascending

  static AffineForm Constant(std::int64_t value);
  static AffineForm Symbol(int symbol);
  AffineForm Plus(const AffineForm& other, std::int64_t factor = 1) const;
  AffineForm TimesForm(const AffineForm& other) const;

  // The quotient by a form of one product that divides all products of this one; else nullopt.
  std::optional<AffineForm> DividedBy(const AffineForm& by) const;
  // What a symbol is multiplied by; nullopt if it occurs in a product with itself.
  std::optional<AffineForm> CoefficientOf(int symbol) const;
  bool Contains(int symbol) const;
  bool IsConstant(std::int64_t value) const;
  std::set<int> Symbols() const;
  // What each product is multiplied by; none is zero.
  const std::map<Product, std::int64_t>& terms() const { return terms_; }
  bool operator==(const AffineForm&) const = default;

 private:
  std::map<Product, std::int64_t> terms_;  // without zeros
};

// The symbol of `threadIdx.x` and the like; below -1. Those of threadIdx come first, then those of blockIdx, blockDim and
// gridDim, each of three dimensions and one less than the one before.
int BuiltinSymbol(std::string_view builtin, std::size_t axis);
inline constexpr int kFirstBuiltinSymbol = -2, kBuiltinSymbols = 12;

// The form of an integer expression of a kernel. Variables that only their initialisers write are followed into these, except
// `atoms`, which stay symbols, as do parameters and counters of loops. nullopt if the expression has anything else: loads,
// divisions, variables that change.
std::optional<AffineForm> AffineFormOf(const SyntaxTree& tree, int expression, const std::set<int>& atoms);

// An element of a buffer: the kernel's parameter that points to it, and the element's index.
struct AffineElement {
  int parameter = -1;
  AffineForm index;
};
// Of `p[i]`, `*p` and so on, where p is a parameter or computed from one. nullopt if it is not understood.
std::optional<AffineElement> AffineElementOf(const SyntaxTree& tree, int access, const std::set<int>& atoms);
// The same, where casts of pointers are passed over. What a pointer has been moved by before a cast counts in elements of another
// size: its form is multiplied by a symbol of its own. So the index says which variables the address depends on, whether it does
// so linearly, and what it is after the last cast, but not where the element lies.
std::optional<AffineElement> AffineElementBehindCasts(const SyntaxTree& tree, int access, const std::set<int>& atoms);

}  // namespace evo
