#pragma once

#include <map>
#include <string>
#include <vector>

#include "import/draft_builder.h"

namespace evo {

// Two sizes of the host with one value that are the columns of one matrix and the rows of another, where a launch makes a matrix
// with the rows of the first and the columns of the second: one stands for the other from then on, with a note, since another
// shape would be no product. The launches have to be taken anew then. `given`: answers by the names of sizes, which stay as they
// are.
bool SetInnerSizesEqual(HostCode& host, const std::vector<TakenLaunch>& launches, const std::map<std::string, std::string>& given,
                        std::vector<std::string>& notes);

}  // namespace evo
