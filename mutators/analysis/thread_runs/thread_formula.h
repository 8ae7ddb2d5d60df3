#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

// What a thread computes of elements, as an expression: so that it can be written for other elements. Its type is that which C++
// gives it; conversions are part of it.
struct ThreadFormula : boost::intrusive_ref_counter<ThreadFormula, boost::thread_unsafe_counter> {
  using Pointer = boost::intrusive_ptr<const ThreadFormula>;
  enum class Kind : std::uint8_t { kElement, kLeaf, kOperator, kCall, kCast, kChoice };
  // Larger ones are not followed: they would not fit into a kernel.
  static constexpr std::int64_t kMostParts = 700;

  Kind kind = Kind::kLeaf;
  std::string type;
  std::string spelled;     // a leaf, an operator or a function
  int memory = -1;         // of an element, the buffer, and
  std::int64_t index = 0;  // which it is
  std::vector<Pointer> parts;
  std::int64_t size = 1;  // of all parts, counted wherever they occur
  bool known = true;      // whether it is made of literals alone
  bool unset = false;     // a number that nobody has stored, in the variable or array `memory`
};
using FormulaPointer = ThreadFormula::Pointer;

FormulaPointer FormulaElement(std::string type, int memory, std::int64_t index);
// A literal, or with `known` false a parameter.
FormulaPointer FormulaLeaf(std::string type, std::string spelled, bool known);
FormulaPointer FormulaInteger(const std::string& type, std::int64_t value);
// Null if C++ has no such operator for these types, or it would be too large; so are the next ones.
FormulaPointer FormulaOperator(std::string_view spelled, FormulaPointer left, FormulaPointer right);
FormulaPointer FormulaUnary(char spelled, FormulaPointer of);
FormulaPointer FormulaCall(std::string type, std::string_view function, std::vector<FormulaPointer> arguments);
// The same if it is of that type already.
FormulaPointer FormulaCast(FormulaPointer of, const std::string& type);
FormulaPointer FormulaChoice(FormulaPointer condition, FormulaPointer holds, FormulaPointer fails);
// The same with other parts.
FormulaPointer FormulaWith(const ThreadFormula& formula, std::vector<FormulaPointer> parts);

// Whether two are computed alike, from the same elements.
bool AreSameFormulas(const ThreadFormula& a, const ThreadFormula& b);
// Whether a type is one of numbers that formulas know.
bool IsFormulaType(std::string_view type);
// The formula as an expression, in which elements, and other parts if the function gives a text for them, are written so.
std::string FormulaText(const ThreadFormula& formula, const std::function<std::string(const ThreadFormula&)>& other);

}  // namespace evo
