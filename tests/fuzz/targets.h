#pragma once

#include <span>
#include <string_view>

namespace evo {

// A parser of text or bytes that evo does not trust. `run` returns for any input; it throws std::logic_error where a promise of
// the parser is broken, such as that what it writes reads back as the same value. Another exception, a signal or a hang is a
// fault.
struct FuzzTarget {
  std::string_view name;  // its seeds are in corpus/NAME
  void (*run)(std::string_view bytes);
};

std::span<const FuzzTarget> FuzzTargets();

// nullptr if there is none of this name.
const FuzzTarget* FindFuzzTarget(std::string_view name);

}  // namespace evo
