#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "kernel_templates/kernel_template.h"
#include "mutators/analysis/attention/attention.h"
#include "mutators/mutator.h"

namespace evo {

// A size of a launch line that may be the number of elements of an attention's rows.
struct DepthChoice {
  std::string size;   // as an expression of sizes: `D`, or `C / HEADS`
  std::string name;   // the size in whose place a number is tried: `D`, or `C`
  std::string times;  // what the number is times then: `HEADS`; empty for nothing
  // Of a quotient: the kernel's parameters.
  int dividend = -1, divisor = -1;
};

// Numbers of elements that are tried: a small one, and one beyond all numbers of the code, at most the last.
inline constexpr std::int64_t kSmallDepth = 32, kLargestDepth = 512;
std::int64_t LargeDepth(std::int64_t largest_number);

// The launch lines of a source where the rows have this many elements.
KernelTemplate WithDepth(const KernelTemplate& rendered, const DepthChoice& choice, std::int64_t depth);

// Whether a variable of a kernel is the quotient of a choice.
bool IsQuotientOf(const SyntaxTree& tree, int variable, const DepthChoice& choice);

// A kernel as an attention whose rows have as many elements as a size of its launch line says, if it is the same one with two
// numbers of elements, of which one is beyond all numbers of the code or the largest that the kernel takes; nullopt if it is
// none. `find` looks at launch lines with a number. Without `resembles`, whether it computes one with other sizes, only quotients
// are tried.
using FindWithDepth = std::function<std::variant<Attention, std::string>(const KernelTemplate&, const DepthChoice&)>;
std::optional<Attention> AttentionOfSizes(const MutationContext& context, int kernel, bool resembles, const FindWithDepth& find);

}  // namespace evo
