#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/expression.h"

namespace evo {

// `evo:size WIDTH = W`, or `evo:size W` for `W = W`: a macro that has, in each case, the value of an expression of the task's
// sizes. The source is compiled once for each set of values. It is no parameter: nothing tunes it.
struct SizeMacro {
  std::string name;
  Expression value = Expression::Parse("0");
  int line = 0;  // of the directive
};

// The sizes of a case: their values by name.
using Sizes = std::map<std::string, std::int64_t>;
// A value for each size macro of a source, by name; empty if it has none.
using SizeValues = std::map<std::string, std::int64_t>;

// Parses what follows `evo:size`. Throws Error.
SizeMacro ParseSizeMacro(const std::string& text);

// The values for a case. Throws Error with line and macro, also if a macro has the name of a size but another value.
SizeValues ValuesFor(const std::vector<SizeMacro>& macros, const Sizes& sizes);

// The text with these values in the macros' lines. Throws Error for a macro without them.
std::string RenderSizes(std::string text, const SizeValues& values);

// "WIDTH = 7, HEIGHT = 2"
std::string ToText(const SizeValues& values);

// Whether the source declares a macro of this name as a size.
bool IsSizeMacro(std::string_view source, std::string_view name);

}  // namespace evo
