#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/rng.h"

namespace evo {

// One to eight random changes of a text: bytes changed, left out, repeated or put in, numbers replaced by extreme ones, and parts
// of the other texts put in.
std::string MutateText(std::string text, std::span<const std::string> others, Rng& rng);

}  // namespace evo
