#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "import/host_expression.h"

namespace evo {

// What an expression of the host comes down to: a name whose value is a constant, or is not known.
struct HostLeaf {
  enum class Origin { kMacro, kFileConstant, kVariable, kParameter, kLoop, kComponent };  // kComponent: x of a dim3
  std::string name;  // that of the program; two of the same name in different functions get different labels
  Origin origin = Origin::kVariable;
  int function = -1;
  std::optional<Number> value;
  std::string place;  // "line 12"
};

// The leaves that have been met in expressions of the host, each with a label of its own.
class HostLeaves {
 public:
  // The leaf of this name in the function, which is added if it is new.
  HostExpression Add(const HostLeaf& leaf);
  // The leaf of a field that a list of the host gives as a number, `Shape s{200, 1003}`, by where the number stands.
  HostExpression AddField(const std::string& field, const Number& number, std::uint32_t begin, const std::string& place) {
    return Add({field, HostLeaf::Origin::kVariable, -2 - static_cast<int>(begin), number, place});
  }
  // The component of a dim3, such as "grid_x", if it has been met in the function.
  std::optional<HostExpression> Component(const std::string& name, int function) const;
  // From now on one label stands for the other, since the host demands that they are equal.
  void SetEqual(const std::string& label, const std::string& other) { equal_[other] = label; }

  // By label.
  const std::map<std::string, HostLeaf>& all() const { return leaves_; }
  // Those that are known.
  Variables Values() const;

 private:
  HostExpression Equal(const std::string& label) const;

  std::map<std::string, HostLeaf> leaves_;
  std::map<std::pair<int, std::string>, std::string> labels_;
  std::map<std::string, std::string> equal_;
};

}  // namespace evo
