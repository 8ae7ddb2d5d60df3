#pragma once

#include <string>
#include <vector>

namespace evo {

// Texts of input programs ("X: normal(0,1) | scale(30) ; W: normal(0,1) | scale(30)"), briefer, for a person: programs that
// change the same arguments in the same way stand behind the names of these, as in "W and X: scale(30), one_hot | scale(100)", in
// the order in which they come. What differs from argument to argument stands alone, as it is. normal(0,1) is left out before a
// change.
std::vector<std::string> GroupInputs(const std::vector<std::string>& programs);

}  // namespace evo
