#pragma once

#include <string_view>

namespace evo {

// The body of an attention by products of warp groups, with a newline before it. Words that end with _ stand for what the source
// says. Where there is a choice: something is added to scores or a mask hides some; and the
// output has elements of the other matrices, or floats.
extern const std::string_view kGroupAttention, kGroupTerms;
extern const std::string_view kGroupStoreElements, kGroupStoreNumbers;

}  // namespace evo
