#pragma once

#include <string>

namespace evo {

// The body of a convolution (convolution_text.h) with names that `kept`, the part of the source around it, does not have in the
// place of its own. Comments keep their words.
std::string WithFreeNames(std::string text, const std::string& kept);

}  // namespace evo
