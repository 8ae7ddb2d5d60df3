#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "evaluator/compiler/rules/source_tokens.h"

namespace evo {

using PastedWords = std::set<std::string, std::less<>>;

// The words of a source that its macros may join by `##`: the operands that a macro names itself, whatever stands between the
// parentheses of its function-like macros, and what object-like macros among these words stand for. Empty if there is no `##`.
PastedWords FindPastedWords(const SourceTokens& tokens);

// Whether two or more of the words, one after another, make `name`; with `is_prefix`, a text that begins with it.
bool CanBePasted(std::string_view name, const PastedWords& words, bool is_prefix);

}  // namespace evo
