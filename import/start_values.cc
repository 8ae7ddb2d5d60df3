#include "import/start_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string_view>

namespace evo {
namespace {

constexpr double kExtreme = 1e9;  // no element of an input is as large in the programs that were seen

using StartWords = std::span<const std::string_view>;

bool IsAmong(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool Are(StartWords words, std::initializer_list<std::string_view> others) {
  return std::equal(words.begin(), words.end(), others.begin(), others.end());
}

// `sums.data()`, `&sums[0]` and `sums`: sums. Empty for anything else.
std::string_view CopiedName(StartWords words) {
  if (words.empty()) return {};
  if (words.size() == 1 || Are(words.subspan(1), {".", "data", "(", ")"})) return words[0];
  if (words[0] == "&" && words.size() > 1 && Are(words.subspan(2), {"[", "0", "]"})) return words[1];
  return {};
}

// The value of a number or of the name of an extreme one, as the program spells it; "0" for all zeros; empty for others.
std::string StartOf(StartWords words) {
  const bool negative = !words.empty() && words[0] == "-";
  const StartWords unsigned_words = words.subspan(negative ? 1 : 0);
  const std::string text = fmt::format("{}", fmt::join(unsigned_words, ""));
  const std::string_view sign = negative ? "-" : "";
  if (text == "std::numeric_limits<float>::infinity()") return fmt::format("{}INFINITY", sign);
  if (text == "std::numeric_limits<float>::max()") return fmt::format("{}FLT_MAX", sign);
  if (text == "std::numeric_limits<float>::lowest()" && !negative) return "-FLT_MAX";
  if (unsigned_words.size() != 1) return "";
  const std::string_view word = unsigned_words[0];
  std::string spelled = fmt::format("{}{}", sign, word);
  if (IsAmong(word, {"INFINITY", "FLT_MAX", "DBL_MAX", "INT_MAX", "INT_MIN", "HUGE_VALF", "UINT_MAX"})) return spelled;
  double number = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
  if (read.ec != std::errc() ||
      std::string_view(read.ptr, word.data() + word.size()).find_first_not_of("fFuUlL") != std::string_view::npos)
    return "";
  if (number == 0) return "0";
  return std::fabs(number) >= kExtreme ? spelled : "";
}

// The last of several values in brackets.
StartWords LastOf(StartWords words) {
  int depth = 0;
  std::size_t comma = 0;
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    const std::string_view word = words[i];
    depth += IsAmong(word, {"(", "[", "{"}) ? 1 : IsAmong(word, {")", "]", "}"}) ? -1 : 0;
    if (word == "," && depth == 0) comma = i;
  }
  return comma == 0 || words.front() != "(" ? StartWords{} : words.subspan(comma + 1, words.size() - comma - 2);
}

// A number of bytes as that of elements: without its factor `sizeof(T)`, blanks, casts to size_t and brackets around all of it.
std::string CountIn(StartWords words) {
  std::vector<std::string_view> left;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool cast = i + 2 < words.size() && words[i] == "(" && words[i + 1] == "size_t" && words[i + 2] == ")";
    const bool size = words[i] == "sizeof" && i + 3 < words.size() && words[i + 1] == "(" && words[i + 3] == ")";
    if (size && !left.empty() && left.back() == "*") {
      left.pop_back();
    } else if (size && i + 4 < words.size() && words[i + 4] == "*") {
      ++i;
    }
    if (!cast && !size) left.push_back(words[i]);
    if (cast) i += 2;
    if (size) i += 3;
  }
  const auto closes = [&] {
    int depth = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
      depth += left[i] == "(" ? 1 : left[i] == ")" ? -1 : 0;
      if (depth == 0) return i + 1 == left.size();
    }
    return false;
  };
  while (left.size() > 2 && left.front() == "(" && closes()) left.pop_back(), left.erase(left.begin());
  return fmt::format("{}", fmt::join(left, ""));
}

// Looks at what is done with memory of the host between its declaration and a copy.
class StartValueReader {
 public:
  StartValueReader(const SourceProgram& program, const std::vector<HostCall>& calls, std::string_view name)
      : program_(program), calls_(calls), name_(name) {}

  std::string Read(const ProgramVariable& variable, const HostCall& copy) {
    const auto declared = program_.Tokens(variable.initialiser);
    function_ = copy.function;
    AddCount(program_.Tokens(copy.arguments[2]));
    const bool vector = variable.type.find("vector") != std::string::npos;
    if (!vector && variable.type.find('*') == std::string::npos && variable.type.find('[') == std::string::npos) return "";
    if (vector) {
      counts_.insert(fmt::format("{}.size()", name_));
      const auto first = std::find(declared.begin(), declared.end(), ",");
      if (declared.size() > 2) AddCount({declared.begin() + 1, first == declared.end() ? first - 1 : first});
      Take(StartOf(LastOf(declared)));
    } else {
      TakeAllocation(declared);
    }
    const std::size_t first = program_.TokenAt(variable.initialiser.size() > 0 ? variable.initialiser.end
                                                                               : program_.tree().node(variable.node).range.end);
    for (std::size_t at = first; at < program_.tokens().size() && program_.tokens()[at].begin < copy.range.begin; ++at) {
      if (program_.Token(at) == name_ && !IsUnderstood(at)) return "";
    }
    return differs_ ? "" : value_;
  }

 private:
  // A number of elements as it is spelled, and as the variable of that name is set.
  std::set<std::string> SpellingsOf(StartWords words) const {
    std::set<std::string> spellings{CountIn(words)};
    const ProgramVariable* const variable = program_.FindVariable(*spellings.begin(), function_, program_.tokens().back().begin);
    if (variable != nullptr) spellings.insert(CountIn(program_.Tokens(variable->initialiser)));
    spellings.erase("");
    return spellings;
  }

  void AddCount(StartWords words) { counts_.merge(SpellingsOf(words)); }

  bool IsAll(StartWords words) const {
    const auto spellings = SpellingsOf(words);
    return std::any_of(spellings.begin(), spellings.end(), [&](const std::string& one) { return counts_.contains(one); });
  }

  // What is set to one number and then, perhaps under a condition, to another has no value that is known.
  void Take(const std::string& value) {
    differs_ = differs_ || (!value.empty() && !value_.empty() && value != value_);
    if (!value.empty()) value_ = value;
  }

  void TakeAllocation(StartWords words) {
    const bool chosen = std::find(words.begin(), words.end(), "?") != words.end();
    if (const auto call = std::find(words.begin(), words.end(), "malloc"); call != words.end() && words.end() - call > 3)
      AddCount({call + 2, words.end() - 1});
    if (!chosen && std::find(words.begin(), words.end(), "calloc") != words.end()) Take("0");
  }

  // Whether a mention reads nothing but the size or gives it to a copy, allocates it, or sets all of it.
  bool IsUnderstood(std::size_t at) {
    const std::string_view next = program_.Token(at + 1), before = at > 0 ? program_.Token(at - 1) : "";
    if (next == "." && program_.Token(at + 2) == "size") return true;
    if (before == "!" || (IsAmong(next, {"==", "!="}) && IsAmong(program_.Token(at + 2), {"NULL", "nullptr"}))) return true;
    for (const HostCall& call : calls_) {
      if (!call.range.Contains(program_.tokens()[at])) continue;
      if (call.name.starts_with("cudaMemcpy") && call.arguments.size() > 1)
        return call.arguments[1].Contains(program_.tokens()[at]);
      if (IsAmong(call.name, {"cudaMallocHost", "cudaHostAlloc"})) return true;
      if (SetsAll(call)) return true;
    }
    return next == "=" ? IsAllocated(at) : next == "[" && IsFilled(at);
  }

  bool SetsAll(const HostCall& call) {
    const bool fills = IsAmong(call.name, {"fill", "fill_n"}), sets = call.name == "memset";
    if ((!fills && !sets) || call.arguments.size() != 3) return false;
    const std::string value = StartOf(program_.Tokens(call.arguments[sets ? 1 : 2]));
    const auto begin = program_.Tokens(call.arguments[0]);
    const bool whole = CopiedName(begin) == name_ || Are(begin, {name_, ".", "begin", "(", ")"});
    const auto end = program_.Tokens(call.arguments[sets ? 2 : 1]);
    bool all = Are(end, {name_, ".", "end", "(", ")"});
    if (sets || call.name == "fill_n") all = IsAll(end);
    if (call.name == "fill" && end.size() > 2 && end[0] == name_ && end[1] == "+") all = IsAll(StartWords(end).subspan(2));
    if (value.empty() || (sets && value != "0") || !whole || !all || (set_ && set_ != call.range.begin)) return false;
    set_ = call.range.begin;
    Take(value);
    return true;
  }

  // `h = (float*)malloc(n)`
  bool IsAllocated(std::size_t at) {
    std::vector<std::string_view> words;
    for (std::size_t i = at + 2; i < program_.tokens().size() && program_.Token(i) != ";"; ++i)
      words.push_back(program_.Token(i));
    TakeAllocation(words);
    const auto allocates = [](std::string_view word) { return IsAmong(word, {"malloc", "calloc", "new"}); };
    return std::any_of(words.begin(), words.end(), allocates);
  }

  // `h[i] = 0;` in `for (int i = 0; i < ..`, the only one.
  bool IsFilled(std::size_t at) {
    const std::string_view index = program_.Token(at + 2);
    if (set_ || !IsWord(index) || program_.Token(at + 3) != "]" || program_.Token(at + 4) != "=") return false;
    std::vector<std::string_view> words;
    std::size_t end = at + 5;
    while (end < program_.tokens().size() && !IsAmong(program_.Token(end), {";", ",", "="}))
      words.push_back(program_.Token(end++));
    const std::string value = StartOf(words);
    if (value.empty() || program_.Token(end) == "=") return false;
    // The nearest loop before it counts this index from 0; nothing between decides whether the element is set.
    for (std::size_t i = at; i-- > 0 && !IsAmong(program_.Token(i), {"if", "while", "else", "?"});) {
      if (program_.Token(i) != "for") continue;
      std::size_t name = i + 2;
      while (name < at && program_.Token(name + 1) != "=") ++name;
      if (program_.Token(name) != index || program_.Token(name + 2) != "0" || program_.AfterBracket(i + 1) > at) return false;
      // `; i < n;`
      std::size_t stop = name + 6;
      while (stop < at && program_.Token(stop) != ";") ++stop;
      const bool below = program_.Token(name + 3) == ";" && program_.Token(name + 4) == index && program_.Token(name + 5) == "<";
      if (!below || !IsAll(program_.Tokens({program_.tokens()[name + 6].begin, program_.tokens()[stop - 1].end}))) return false;
      set_ = program_.tokens()[at].begin;
      Take(value);
      return true;
    }
    return false;
  }

  const SourceProgram& program_;
  const std::vector<HostCall>& calls_;
  std::string_view name_;
  std::string value_;
  bool differs_ = false;
  std::set<std::string> counts_;  // of all elements, as the program spells them
  int function_ = -1;
  std::optional<std::uint32_t> set_;  // where a statement sets all elements
};

}  // namespace

std::string StartValue(const SourceProgram& program, const std::vector<HostCall>& calls, const HostCall& copy) {
  if (copy.arguments.size() < 3) return "";
  const std::string_view name = CopiedName(program.Tokens(copy.arguments[1]));
  if (name.empty()) return "";
  const ProgramVariable* const variable = program.FindVariable(name, copy.function, copy.range.begin);
  if (variable == nullptr || variable->function != copy.function) return "";
  return StartValueReader(program, calls, name).Read(*variable, copy);
}

}  // namespace evo
