#include "evaluator/compiler/nvrtc/ptx_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace evo {
namespace {

bool IsNameByte(char byte) {
  return std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '_' || byte == '$' || byte == '%' || byte == '.';
}

// Splits a PTX text into words: runs of letters, digits and the characters _ $ % and '.', and single braces. Next skips comments
// and strings, and returns an empty word at the end.
class PtxWords {
 public:
  explicit PtxWords(std::string_view text) : text_(text) {}

  // How many braces are open after the last word.
  int depth() const { return depth_; }
  // Whether the last word is part of inline PTX; the compiler marks where that begins and ends.
  bool in_assembly() const { return in_assembly_; }

  std::string_view Next() {
    while (position_ < text_.size() && !IsNameByte(text_[position_])) {
      if (text_[position_] == '{' || text_[position_] == '}') {
        depth_ += text_[position_] == '{' ? 1 : -1;
        return text_.substr(position_++, 1);
      }
      if (text_.substr(position_, 2) == "//") {
        if (text_.substr(position_).starts_with("// begin inline asm")) in_assembly_ = true;
        if (text_.substr(position_).starts_with("// end inline asm")) in_assembly_ = false;
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
  int depth_ = 0;
  bool in_assembly_ = false;
};

// The special registers that tell the time or count events (PTX ISA, "Special Registers"): %clock, %clock_hi, %clock64,
// %globaltimer, %globaltimer_lo, %globaltimer_hi, %pm0 .. %pm7 and their _64.
bool IsClock(std::string_view word) { return word.starts_with("%clock") || word.starts_with("%globaltimer"); }

bool IsCounter(std::string_view word) {
  return word.size() >= 4 && word.starts_with("%pm") && std::isdigit(static_cast<unsigned char>(word[3])) != 0;
}

// %gridid rises from launch to launch, so that a kernel knows without a variable how often it ran.
bool IsLaunchCount(std::string_view word) { return word == "%gridid"; }

// Prefixes of the names of functions in the device run-time library that start undeclared work.
constexpr std::array<std::string_view, 5> kLaunchers = {"cudaLaunch", "cudaGetParameterBuffer", "cudaGraphLaunch",
                                                        "cudaStreamCreate", "__cudaCDP2"};
constexpr std::array<std::string_view, 4> kAllocators = {"malloc", "free", "cudaMalloc", "cudaFree"};
// What printf and assert call.
constexpr std::array<std::string_view, 2> kKnownFunctions = {"vprintf", "__assertfail"};

// The name that a declaration gives after its state space; ".align 4", ".attribute(.managed)" and the type come before it.
std::string_view DeclaredName(PtxWords& words) {
  std::string_view word = words.Next();
  for (; word.starts_with('.'); word = words.Next()) {
    if (word == ".align") words.Next();
  }
  return word;
}

bool IsLasting(std::string_view word) { return word == ".global" || word == ".const"; }

// The name of a variable that belongs to a function in C++.
bool IsLocalEntity(std::string_view name) { return name.starts_with("_ZZ"); }

std::optional<PtxObjection> CheckDeclarations(std::string_view ptx) {
  PtxWords words(ptx);
  std::string_view before;
  for (std::string_view word = words.Next(); !word.empty(); before = word, word = words.Next()) {
    // A parameter that points to global memory has ".ptr .global".
    if (before == ".ptr") continue;
    if (IsLasting(word) || (word == ".shared" && words.in_assembly())) {
      const bool within = words.depth() > 0 || words.in_assembly();
      const std::string_view space = word;
      const std::string_view name = DeclaredName(words);
      if (before == ".extern")
        return PtxObjection{Outcome::kUnsupported, fmt::format("uses the variable {}, which it does not define", name)};
      if (within || IsLocalEntity(name)) {
        return PtxObjection{Outcome::kUnsupported,
                            fmt::format("declares the variable {} ({}) within a function; declare it outside, as __device__ or "
                                        "__constant__, or __shared__ without inline PTX",
                                        name, space.substr(1))};
      }
    }
    if (before == ".extern" && word == ".func") {
      // The name follows the return value: `(.param .b32 func_retval0) vprintf`.
      std::string_view name = words.Next();
      if (name == ".param") {
        DeclaredName(words);
        name = words.Next();
      }
      if (std::find(kKnownFunctions.begin(), kKnownFunctions.end(), name) == kKnownFunctions.end())
        return PtxObjection{Outcome::kUnsupported, fmt::format("calls {}, which it does not define", name)};
    }
  }
  return std::nullopt;
}

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
  return CheckDeclarations(ptx);
}

std::vector<std::string> VariableNames(std::string_view ptx) {
  std::vector<std::string> names;
  PtxWords words(ptx);
  std::string_view before;
  for (std::string_view word = words.Next(); !word.empty(); before = word, word = words.Next()) {
    if (IsLasting(word) && before != ".ptr" && words.depth() == 0) names.emplace_back(DeclaredName(words));
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
