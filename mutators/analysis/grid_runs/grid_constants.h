#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/expression.h"
#include "mutators/mutator.h"

namespace evo {

// The numbers with which a source runs.
struct GridSetting {
  Parameters parameters;
  std::string size;           // the only size that its launches name
  std::int64_t elements = 0;  // its value, which is also how many elements each argument has
  bool present = true;        // whether the parameters have the values of the text
  bool reversed = false;      // whether the last block of a launch runs first
  bool open = false;          // whether it is not known where arguments end
  bool axes = false;          // whether blocks and grids may have several dimensions
};

// The numbers that a source and its launch lines spell, in a setting: literals, parameters, sizes, macros and constants.
class GridConstants {
 public:
  // The arguments outlive the object.
  GridConstants(const MutationContext& context, const GridSetting& setting);

  // Gives a name of launch lines, such as the step of a loop, a value.
  void Set(const std::string& name, std::int64_t value) { sizes_[name] = Number::Integer(value); }
  // Of a launch line; nullopt if it is not known.
  std::optional<std::int64_t> ValueOf(const Expression& expression) const;
  std::optional<std::int64_t> ValueOfArgument(const std::string& text) const;

  // A literal or a name of the source. nullopt for what is no whole number; `known` is false for a size that has no value here.
  struct Spelled {
    std::int64_t number = 0;
    bool known = true;
  };
  std::optional<Spelled> ValueOfLiteral(const std::string& text);
  // Macros and constants whose values were used in literals.
  const std::set<std::string>& names() const { return names_; }

 private:
  const MutationContext& context_;
  const GridSetting& setting_;
  Variables sizes_;
  std::set<std::string> names_;
};

}  // namespace evo
