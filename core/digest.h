#pragma once

#include <string>
#include <string_view>

namespace evo {

// The 128-bit XXH3 hash of the bytes as 32 lower-case hexadecimal digits. The same on all machines and in all versions; not
// cryptographic.
std::string Digest(std::string_view bytes);

}  // namespace evo
