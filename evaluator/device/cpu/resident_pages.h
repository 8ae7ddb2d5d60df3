#pragma once

#include <cstddef>
#include <vector>

#include "evaluator/device/pattern.h"

namespace evo {

// Bytes of a page of this machine's memory.
std::size_t PageBytes();

// One page of a pattern.
std::vector<char> PageOf(const DevicePattern& pattern);

// For each page of [begin, begin + bytes) whether it was ever touched; memory that was not is zero. `begin` is a page's. Where
// the operating system does not say, all were.
std::vector<char> TouchedPages(const char* begin, std::size_t bytes);

// Writes `page` over every touched page.
void FillTouchedPages(char* begin, std::size_t bytes, const std::vector<char>& page);

}  // namespace evo
