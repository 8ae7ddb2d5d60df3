#pragma once

#include <string_view>

namespace evo {

// Texts for contractions by tensor maps (MappedGroupWriter), with marks `@{name}`.

// Device functions, each with one instruction that the cpu device knows, and the kernel that copies rows.
extern const std::string_view kMappedBlocks;
// The kernel's body.
extern const std::string_view kMappedBody;

}  // namespace evo
