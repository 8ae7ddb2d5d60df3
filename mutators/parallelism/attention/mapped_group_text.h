#pragma once

#include <string_view>

namespace evo {

// Texts for contractions by tensor maps (MappedGroupWriter), with marks `@{name}`.

// The type of a map. Then come the building blocks for barriers.
extern const std::string_view kMappedType;
// Device functions that are for this form only, and the kernel that copies rows.
extern const std::string_view kMappedBlocks;
// The kernel's body.
extern const std::string_view kMappedBody;

}  // namespace evo
