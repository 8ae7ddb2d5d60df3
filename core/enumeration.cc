#include "core/enumeration.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/error.h"

namespace evo {
namespace {

// Visits the assignments depth first, parameter by parameter. A constraint is evaluated as soon as all parameters that it names
// have values.
class Walk {
 public:
  Walk(const SearchSpace& space, std::vector<std::uint64_t>& codes)
      : space_(space), codes_(codes), due_(space.parameters.size() + 1) {
    for (const Expression& constraint : space.constraints) due_[Depth(constraint)].push_back(&constraint);
    std::uint64_t product = 1;
    for (const Parameter& parameter : space.parameters) {
      if (product > std::numeric_limits<std::uint64_t>::max() / std::max<std::size_t>(parameter.values.size(), 1)) {
        throw Error("the values of the parameters have more than 2^64 combinations; hold some of them fixed");
      }
      product *= parameter.values.size();
    }
  }

  void From(std::size_t depth, std::uint64_t code, bool in_doubt) {
    if (!Holds(depth, in_doubt)) return;
    if (depth == space_.parameters.size()) {
      if (in_doubt && space_.Violated(values_)) return;
      if (codes_.size() == Enumeration::kMost) {
        throw Error(
            fmt::format("more than {} combinations of parameters are legal; hold some of them fixed", Enumeration::kMost));
      }
      codes_.push_back(code);
      return;
    }
    const Parameter& parameter = space_.parameters[depth];
    for (std::size_t i = 0; i < parameter.values.size(); ++i) {
      variables_[parameter.name] = Number::Integer(parameter.values[i]);
      values_[parameter.name] = parameter.values[i];
      From(depth + 1, code * parameter.values.size() + i, in_doubt);
    }
  }

 private:
  std::size_t Depth(const Expression& constraint) const {
    std::size_t depth = 0;
    const std::vector<std::string> names = constraint.Names();
    for (std::size_t i = 0; i < space_.parameters.size(); ++i) {
      if (std::find(names.begin(), names.end(), space_.parameters[i].name) != names.end()) depth = i + 1;
    }
    return depth;
  }

  // A constraint that cannot be evaluated yet, such as by a division by zero, may be guarded by an earlier constraint whose
  // parameters have no values yet. The complete assignment is then checked again.
  bool Holds(std::size_t depth, bool& in_doubt) const {
    for (const Expression* constraint : due_[depth]) {
      try {
        if (constraint->EvaluateInteger(variables_) == 0) return false;
      } catch (const Error&) {
        in_doubt = true;
      }
    }
    return true;
  }

  const SearchSpace& space_;
  std::vector<std::uint64_t>& codes_;
  std::vector<std::vector<const Expression*>> due_;  // constraints by the number of parameters that must have values
  Variables variables_;
  Parameters values_;
};

}  // namespace

Enumeration::Enumeration(const SearchSpace& space) : parameters_(space.parameters) { Walk(space, codes_).From(0, 0, false); }

Parameters Enumeration::At(std::size_t index) const {
  Parameters values;
  std::uint64_t code = codes_[index];
  for (auto parameter = parameters_.rbegin(); parameter != parameters_.rend(); ++parameter) {
    values[parameter->name] = parameter->values[code % parameter->values.size()];
    code /= parameter->values.size();
  }
  return values;
}

}  // namespace evo
