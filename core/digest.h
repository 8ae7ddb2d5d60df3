#pragma once

#include <string>
#include <string_view>

namespace evo {

// 128-bit XXH3 of the bytes, 32 lower-case hexadecimal digits. Stable across machines and versions; not cryptographic.
std::string Digest(std::string_view bytes);

}  // namespace evo
