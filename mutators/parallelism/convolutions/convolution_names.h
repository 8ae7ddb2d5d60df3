#pragma once

#include <string>

namespace evo {

// The body of a convolution (convolution_text.h) with names that `kept`, the part of the source around it, does not have in the
// place of its own. Comments keep their words.
std::string WithFreeNames(std::string text, const std::string& kept);

// The text of a convolution of floats as one of these elements: integers are summed up as such.
std::string WithSumsOf(std::string text, const std::string& element);

}  // namespace evo
