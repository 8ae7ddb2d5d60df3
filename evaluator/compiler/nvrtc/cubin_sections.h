#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "evaluator/compiler/compiler.h"

namespace evo {

// Why a cubin is refused: memory in it lasts from launch to launch, and no symbol of the source's names it.
struct CubinObjection {
  std::string message;
};

// Every section of a cubin whose contents last from launch to launch, with the symbols in it: `__device__` variables
// (.nv.global, .nv.global.init) and `__constant__` variables (.nv.constant3), which a kernel can write through a pointer.
// `declared` are the variables that the PTX declares outside of functions; others are refused, and so is a section without
// symbols. Throws Error if `cubin` is not a whole 64-bit ELF file, which ptxas never writes.
std::variant<std::vector<ImageSection>, CubinObjection> LastingSections(std::string_view cubin,
                                                                        const std::vector<std::string>& declared);

}  // namespace evo
