#pragma once

#include <string_view>

namespace evo {

// Bodies of the two kernels of an attention whose rows have keys of their own, each with a newline before it: parts of the keys,
// and the sum of the parts. Words that end with _ stand for what the source says.
extern const std::string_view kAttentionParts;
extern const std::string_view kAttentionOfParts;

}  // namespace evo
