#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace evo {

// A statement of inline PTX as a call of the cpu device's function for its instruction (evo_cpu/ptx.h), without the `;`.
// `arguments` is the text between the parentheses of `asm(..)`. nullopt unless it is one instruction that the cpu device runs,
// spelled in string literals, with operands that are single registers or numbers.
std::optional<std::string> HostAssembly(std::string_view arguments);

}  // namespace evo
