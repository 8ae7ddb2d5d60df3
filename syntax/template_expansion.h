#pragma once

#include <string>

namespace evo {

// The text with each function template whose uses spell all arguments, but for those that have defaults, as a function. One that
// is used with several lists of arguments is only declared, and is followed by a function for each list.
std::string WithoutTemplates(std::string text);

}  // namespace evo
