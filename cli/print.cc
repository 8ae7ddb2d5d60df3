#include "cli/print.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/locale/utf.hpp>
#include <cerrno>
#include <system_error>
#include <utility>

#include "cli/table.h"
#include "cli/terminal.h"

namespace evo {
namespace {

namespace utf = boost::locale::utf;

constexpr std::string_view kEraseBelow = "\r\x1b[J";

// Whether a terminal shows lines of PrintLive. Warnings of workers come from other threads.
std::atomic<bool> live_lines{false};

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

// Where the last column of a line begins, behind two blanks or more ("verdict     held-out ok", an option in a help text); 0 if
// that is too far to the right, or if there are no columns.
std::size_t Indent(std::string_view line) {
  constexpr std::size_t kMost = 32;
  std::size_t indent = 0;
  for (std::size_t gap = line.find("  "); gap <= kMost; gap = line.find("  ", indent)) {
    const std::size_t text = line.find_first_not_of(' ', gap);
    if (text > kMost) break;
    indent = text;
  }
  return indent;
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

std::vector<std::string> BrokenLines(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  for (bool last = false; !last;) {
    const std::size_t end = text.find('\n');
    last = end == std::string_view::npos;
    const std::string_view line = text.substr(0, end);
    const std::size_t indent = ColumnsOf(line) > width ? Indent(line) : 0;
    const std::vector<std::string> parts = WrappedLines(line, width);
    lines.push_back(ColumnsOf(line) > width ? parts.front() : std::string(line));
    if (ColumnsOf(line) > width) {
      std::string_view rest = line.substr(parts.front().size());
      rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
      for (const std::string& part : WrappedLines(rest, width - indent)) lines.push_back(std::string(indent, ' ') + part);
    }
    text.remove_prefix(last ? text.size() : end + 1);
  }
  return lines;
}

void PrintText(std::FILE* out, std::string_view text) {
  if (!IsTerminal(out)) return PrintLines(out, text);
  PrintRaw(out, fmt::format("{}", fmt::join(BrokenLines(Cleaned(text), LineWidth(out)), "\n")));
}

void PrintRaw(std::FILE* out, std::string_view text) {
  if (live_lines.load(std::memory_order_relaxed) && IsTerminal(out) && live_lines.exchange(false))
    std::fwrite(kEraseBelow.data(), 1, kEraseBelow.size(), out);
  if (std::fwrite(text.data(), 1, text.size(), out) == text.size() || out == stderr) return;
  throw std::system_error(errno, std::generic_category(), "the output");
}

void PrintLive(std::FILE* out, const std::vector<std::string>& lines) {
  std::string text = fmt::format("{}{}", kEraseBelow, fmt::join(lines, "\n"));
  if (lines.size() > 1) text += fmt::format("\x1b[{}A", lines.size() - 1);
  text += '\r';
  std::fwrite(text.data(), 1, text.size(), out);
  std::fflush(out);
  live_lines = true;
}

}  // namespace evo
