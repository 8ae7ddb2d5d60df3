#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace evo {

// Why a shared object that was made of a candidate is more than device code; nullopt if it is not. Refused are code that runs
// when the image is loaded or unloaded, data of threads, sections that are writable and executable, and calls of other functions
// than those of mathematics, of memory and of printf. This holds whatever the source looks like: the linker has named everything
// that the image takes from the process. `own_initialisers`: how many functions the compiler itself has run at loading.
// Precondition: linked without the host's start files. Throws Error if the image is no ELF file.
std::optional<std::string> ObjectionToImage(std::string_view image, std::size_t own_initialisers = 0);

}  // namespace evo
