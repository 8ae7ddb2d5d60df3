#pragma once

#include <functional>
#include <set>
#include <string>
#include <variant>

#include "mutators/analysis/scans/prefix_scan.h"

namespace evo {

// The source as a scan whose number of elements is this size, with these values of all others; else why it is none.
using FindScanOfSize = std::function<std::variant<PrefixScan, std::string>(const std::string& size, const Parameters& others)>;

// A source that names several sizes as a scan of as many elements as one of them says: the others, such as how many elements a
// block takes, only share the work. A size that the text has a number for has that number; any other one has several, and the
// scan is the same with all of them.
std::variant<PrefixScan, std::string> ScanOfOneSize(const MutationContext& context, const std::set<std::string>& sizes,
                                                    const FindScanOfSize& find);

}  // namespace evo
