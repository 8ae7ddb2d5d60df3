#include "evaluator/compiler/nvrtc/ptx_checks.h"

#include <fmt/format.h>

#include <array>
#include <cctype>

namespace evo {
namespace {

bool IsNameByte(char byte) {
  return std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '_' || byte == '$' || byte == '%' || byte == '.';
}

// The next word of a PTX text from `position` on: a run of letters, digits and _ $ % . Empty at the end. Comments and strings are
// passed over.
class PtxWords {
 public:
  explicit PtxWords(std::string_view text) : text_(text) {}

  std::string_view Next() {
    while (position_ < text_.size() && !IsNameByte(text_[position_])) {
      if (text_.substr(position_, 2) == "//") {
        SkipTo("\n");
      } else if (text_.substr(position_, 2) == "/*") {
        SkipTo("*/");
      } else if (text_[position_] == '"') {
        ++position_;
        SkipTo("\"");
      } else {
        ++position_;
      }
    }
    const std::size_t begin = position_;
    while (position_ < text_.size() && IsNameByte(text_[position_])) ++position_;
    return text_.substr(begin, position_ - begin);
  }

 private:
  void SkipTo(std::string_view end) {
    const std::size_t found = text_.find(end, position_ + (end == "*/" ? 2 : 0));
    position_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

// Special registers that tell the time or count events (PTX ISA, "Special Registers"): %clock, %clock_hi, %clock64, %globaltimer,
// %globaltimer_lo, %globaltimer_hi, %pm0 .. %pm7 and their _64.
bool IsClock(std::string_view word) { return word.starts_with("%clock") || word.starts_with("%globaltimer"); }

bool IsCounter(std::string_view word) {
  return word.size() >= 4 && word.starts_with("%pm") && std::isdigit(static_cast<unsigned char>(word[3])) != 0;
}

// Rises from launch to launch: memory of how often a kernel ran, without a variable.
bool IsLaunchCount(std::string_view word) { return word == "%gridid"; }

// The device run-time library's functions, by the prefixes of their names: they start work that nobody declared.
constexpr std::array<std::string_view, 5> kLaunchers = {"cudaLaunch", "cudaGetParameterBuffer", "cudaGraphLaunch",
                                                        "cudaStreamCreate", "__cudaCDP2"};
constexpr std::array<std::string_view, 4> kAllocators = {"malloc", "free", "cudaMalloc", "cudaFree"};

}  // namespace

std::optional<PtxObjection> CheckPtx(std::string_view ptx) {
  PtxWords words(ptx);
  for (std::string_view word = words.Next(); !word.empty(); word = words.Next()) {
    if (IsClock(word)) return PtxObjection{Outcome::kCheating, fmt::format("reads the clock ({})", word)};
    if (IsCounter(word)) return PtxObjection{Outcome::kCheating, fmt::format("reads a performance counter ({})", word)};
    if (IsLaunchCount(word)) return PtxObjection{Outcome::kCheating, fmt::format("counts its launches ({})", word)};
    for (const std::string_view launcher : kLaunchers) {
      if (word.starts_with(launcher))
        return PtxObjection{Outcome::kCheating, fmt::format("launches kernels from the device ({})", word)};
    }
    for (const std::string_view allocator : kAllocators) {
      if (word == allocator)
        return PtxObjection{Outcome::kUnsupported, fmt::format("allocates memory on the device ({}); use evo:workspace", word)};
    }
  }
  return std::nullopt;
}

std::vector<std::string> VariableNames(std::string_view ptx) {
  std::vector<std::string> names;
  PtxWords words(ptx);
  std::string_view before;
  for (std::string_view word = words.Next(); !word.empty(); before = word, word = words.Next()) {
    // A parameter that points to global memory says ".ptr .global".
    if (word != ".global" || before == ".ptr") continue;
    // Then come ".align 4", ".attribute(.managed)" and the type.
    for (word = words.Next(); word.starts_with('.'); word = words.Next()) {
      if (word == ".align") words.Next();
    }
    names.emplace_back(word);
  }
  return names;
}

std::vector<std::string> EntryNames(std::string_view ptx) {
  std::vector<std::string> names;
  PtxWords words(ptx);
  for (std::string_view word = words.Next(); !word.empty(); word = words.Next()) {
    if (word == ".entry") names.emplace_back(words.Next());
  }
  return names;
}

}  // namespace evo
