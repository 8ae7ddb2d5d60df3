#include "tests/fuzz/mutate.h"

#include <cctype>

namespace evo {
namespace {

// What parsers have stumbled on: the ends of number ranges, brackets, separators, control characters, invalid UTF-8.
constexpr std::string_view kWords[] = {"0",
                                       "-1",
                                       "2147483648",
                                       "-9223372036854775808",
                                       "18446744073709551616",
                                       "1e999",
                                       "-0.0",
                                       "nan",
                                       "inf",
                                       "0x",
                                       "1e-400",
                                       "[",
                                       "]",
                                       "{",
                                       "}",
                                       "(",
                                       ")",
                                       "\"",
                                       "'",
                                       ",",
                                       ":",
                                       ";",
                                       "|",
                                       "\\",
                                       "/*",
                                       "//",
                                       "\n",
                                       "\r",
                                       "\t",
                                       "\x1b[2J",
                                       "\x9b",
                                       "\xff\xfe",
                                       "\xe2\x80\xae",
                                       "null",
                                       "true",
                                       "[]",
                                       "{}",
                                       "#include <",
                                       "#pragma ",
                                       "#define ",
                                       "%",
                                       "/0",
                                       "<<64",
                                       "evo:launch ",
                                       "[[[[[[[["};

std::string_view PartOf(std::string_view text, Rng& rng) {
  if (text.empty()) return text;
  const std::size_t begin = rng.Below(text.size());
  return text.substr(begin, 1 + rng.Below(text.size() - begin));
}

void ReplaceNumber(std::string& text, Rng& rng) {
  const std::size_t from = rng.Below(text.size());
  for (std::size_t i = from; i < text.size(); ++i) {
    if (!std::isdigit(static_cast<unsigned char>(text[i]))) continue;
    std::size_t end = i;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
    text.replace(i, end - i, kWords[rng.Below(11)]);
    return;
  }
}

void ChangeOnce(std::string& text, std::span<const std::string> others, Rng& rng) {
  constexpr std::size_t kLongest = 1 << 16;
  const std::size_t at = rng.Below(text.size() + 1);
  switch (text.empty() ? 0 : rng.Below(7)) {
    case 0:
      text.insert(at, kWords[rng.Below(std::size(kWords))]);
      break;
    case 1:
      text[at % text.size()] = static_cast<char>(rng.Below(256));
      break;
    case 2:
      text.erase(at, 1 + rng.Below(16));
      break;
    case 3:
      text.insert(at, std::string(PartOf(text, rng)));
      break;
    case 4:
      text.insert(at, std::string(PartOf(others[rng.Below(others.size())], rng)));
      break;
    case 5:
      ReplaceNumber(text, rng);
      break;
    default: {
      const std::string_view word = kWords[rng.Below(std::size(kWords))];
      for (std::uint64_t n = rng.Below(2000); n > 0; --n) text.insert(at, word);
    }
  }
  if (text.size() > kLongest) text.resize(kLongest);
}

}  // namespace

std::string MutateText(std::string text, std::span<const std::string> others, Rng& rng) {
  for (std::uint64_t n = 1 + rng.Below(8); n > 0; --n) ChangeOnce(text, others, rng);
  return text;
}

}  // namespace evo
