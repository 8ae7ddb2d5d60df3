#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "import/host_calls.h"
#include "import/host_loops.h"

namespace evo {

// One `if` of a loop that chooses between two launches of a kernel, which get two pointers in one order and in the other, in
// every second iteration.
struct TurnTaking {
  const HostLoop* loop = nullptr;
  std::size_t first = 0, end = 0;  // tokens of the `if`
  SourceRange yes, no;             // branches
  const HostLaunch *if_so = nullptr, *if_not = nullptr;
  std::string a, b;                  // the pointers, in the order of the launch that comes first
  std::string name;                  // on which the condition depends
  std::int64_t begin = 0, next = 0;  // its values in the first two iterations
  bool of_flag = false;
  bool of_counter = false;   // a flag that is counted up, of which only its parity is asked
  bool first_if_so = false;  // which launch comes first
  int changes = 0;           // of the flag, in the loop's text
};

// The first such `if` of a loop. The loop and the calls outlive the result.
std::optional<TurnTaking> TurnTakingOf(const SourceProgram& program, const HostCalls& calls, const HostLoop& loop);

// Whether a token may stand in a condition that depends on nothing but whether `name` is odd.
bool IsParityWord(std::string_view token, std::string_view name);
// Whether a condition of such words holds for every second number from one on and for no other: for the number itself or the
// next. nullopt if it does not.
std::optional<bool> HoldsInTurns(const HostExpression& condition, const std::string& name, std::int64_t first);
// Whether a condition holds with this value of the only name in it; nullopt if that is not known.
std::optional<bool> HoldsWith(const HostExpression& condition, const std::string& name, std::int64_t value);

}  // namespace evo
