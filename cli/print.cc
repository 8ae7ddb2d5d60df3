#include "cli/print.h"

#include <algorithm>
#include <array>
#include <boost/locale/utf.hpp>
#include <cerrno>
#include <system_error>
#include <utility>

namespace evo {
namespace {

namespace utf = boost::locale::utf;

// Unicode's control characters beyond ASCII, and what is not seen: marks and overrides of the writing direction, characters
// without width, separators of lines, tags.
constexpr std::array<std::pair<utf::code_point, utf::code_point>, 8> kInvisible{{
    {0x80, 0x9f},
    {0x61c, 0x61c},
    {0x200b, 0x200f},
    {0x2028, 0x202e},
    {0x2060, 0x206f},
    {0xfeff, 0xfeff},
    {0xfff9, 0xfffb},
    {0xe0000, 0xe007f},
}};

bool IsInvisible(utf::code_point point) {
  return std::any_of(kInvisible.begin(), kInvisible.end(),
                     [&](const auto& range) { return range.first <= point && point <= range.second; });
}

std::string Escaped(char byte) { return fmt::format("\\x{:02x}", static_cast<unsigned char>(byte)); }

// Appends one character, which begins at `at`, and moves `at` behind it.
void AppendCleaned(std::string& cleaned, std::string_view text, std::size_t& at) {
  const char* const begin = text.data() + at;
  const char* next = begin;
  const utf::code_point point = utf::utf_traits<char>::decode(next, text.data() + text.size());
  if (point == utf::illegal || point == utf::incomplete) {
    cleaned += Escaped(text[at++]);
    return;
  }
  at += static_cast<std::size_t>(next - begin);
  if (point < 0x20 || point == 0x7f)
    cleaned += Escaped(*begin);
  else if (IsInvisible(point))
    cleaned += fmt::format("\\u{:04x}", point);
  else
    cleaned.append(begin, next);
}

}  // namespace

std::string Cleaned(std::string_view text) {
  std::string cleaned;
  cleaned.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '\n' || c == '\t') {
      cleaned += c;
      ++at;
    } else if (text.substr(at, 2) == "\r\n") {
      ++at;
    } else {
      AppendCleaned(cleaned, text, at);
    }
  }
  return cleaned;
}

std::string CleanedLine(std::string_view text) {
  std::string line;
  for (const char c : Cleaned(text)) {
    if (c == '\n')
      line += "\\n";
    else if (c == '\t')
      line += "\\t";
    else
      line += c;
  }
  return line;
}

void PrintLines(std::FILE* out, std::string_view text) { PrintRaw(out, Cleaned(text)); }

void PrintRaw(std::FILE* out, std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), out) < text.size())
    throw std::system_error(errno, std::generic_category(), "cannot write");
}

}  // namespace evo
