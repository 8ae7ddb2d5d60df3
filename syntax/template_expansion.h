#pragma once

#include <string>

namespace evo {

// The text with each function template that it uses with one list of arguments, and always with all of them, as a function.
std::string WithoutTemplates(std::string text);

}  // namespace evo
