#include "kernel_templates/parameter_block.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "kernel_templates/directive_lexer.h"

namespace evo {
namespace {

bool IsDirective(std::string_view line) {
  const std::size_t first = line.find_first_not_of(' ');
  return first != std::string_view::npos && (line[first] == '#' || (line[first] == '\t' && Trim(line).starts_with('#')));
}

// The text after `#WORD` in the line, trimmed and without a trailing comment; nullopt if the line is something else.
std::optional<std::string_view> After(std::string_view line, std::string_view word) {
  if (!IsDirective(line)) return std::nullopt;
  line = Trim(Trim(line).substr(1));
  if (!line.starts_with(word)) return std::nullopt;
  std::string_view rest = line.substr(word.size());
  if (!rest.empty() && rest[0] != ' ' && rest[0] != '\t' && rest[0] != '"' && rest[0] != '<' && rest[0] != '/')
    return std::nullopt;
  return Trim(rest.substr(0, std::min(rest.find("//"), rest.find("/*"))));
}

}  // namespace

std::vector<ParameterBlock> FindParameterBlocks(std::string_view text) {
  std::vector<ParameterBlock> blocks;
  const std::vector<SourceLine> lines = SplitLines(text);
  for (std::size_t i = 0; i + 2 < lines.size(); ++i) {
    const auto name = After(lines[i].text, "ifndef");
    if (!name) continue;
    const auto define = After(lines[i + 1].text, "define");
    if (!define || !After(lines[i + 2].text, "endif")) continue;
    if (!IsIdentifier(*name) || !define->starts_with(*name)) continue;
    const std::string_view spelling = Trim(define->substr(name->size()));
    ParameterBlock block{std::string(*name), 0, static_cast<std::size_t>(spelling.data() - text.data()), 0, lines[i + 1].number};
    block.value_end = block.value_begin + spelling.size();
    const auto read = std::from_chars(spelling.data(), spelling.data() + spelling.size(), block.value);
    const bool blank_between = define->size() > name->size() && IsIdentifier(define->substr(0, name->size() + 1)) == false;
    if (spelling.empty() || !blank_between || read.ec != std::errc() || read.ptr != spelling.data() + spelling.size()) continue;
    blocks.push_back(block);
  }
  return blocks;
}

IncludeEnd FindIncludeEnd(std::string_view text) {
  IncludeEnd end;
  int depth = 0;
  bool pending = false;  // the last include is inside a condition that is still open
  for (const SourceLine& line : SplitLines(text)) {
    if (!IsDirective(line.text)) continue;
    const bool opens = After(line.text, "if") || After(line.text, "ifdef") || After(line.text, "ifndef");
    if (opens) ++depth;
    const bool closes = After(line.text, "endif").has_value();
    if (closes && depth > 0) --depth;
    const bool include = After(line.text, "include").has_value();
    if (include) end.line = line.number;
    if (include || (pending && closes)) {
      pending = depth > 0;
      if (!pending) end.offset = std::min(line.begin + line.text.size() + 1, text.size());
    }
  }
  // A condition around the whole file closes after all code, so the includes end with the last include's own line.
  if (end.line > 0 && end.offset == 0) {
    const SourceLine last = SplitLines(text)[static_cast<std::size_t>(end.line) - 1];
    end.offset = std::min(last.begin + last.text.size() + 1, text.size());
  }
  return end;
}

std::size_t EndOfParameterBlocks(std::string_view text) {
  const std::vector<SourceLine> lines = SplitLines(text);
  const auto after = [&](const SourceLine& line) { return std::min(line.begin + line.text.size() + 1, text.size()); };
  std::size_t end = FindIncludeEnd(text).offset;
  for (const SourceLine& line : lines) {
    if (end != 0 || !Trim(line.text).starts_with("//")) break;
    if (after(line) < text.size() && !Trim(text.substr(after(line))).starts_with("//")) end = after(line);
  }
  const std::vector<ParameterBlock> blocks = FindParameterBlocks(text);
  int depth = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i].text;
    if (Trim(line) == "#pragma nv_hdrstop" && depth == 0) end = std::max(end, after(lines[i]));
    if (!IsDirective(line)) continue;
    const bool ends = After(line, "endif").has_value();
    if (After(line, "if") || After(line, "ifdef") || After(line, "ifndef")) ++depth;
    if (ends) --depth;
    const auto is_it = [&](const ParameterBlock& block) { return block.line == lines[i].number - 1; };
    if (ends && depth == 0 && std::any_of(blocks.begin(), blocks.end(), is_it)) end = std::max(end, after(lines[i]));
  }
  return end;
}

std::optional<std::string> QuotedInclude(std::string_view line) {
  const auto name = After(line, "include");
  if (!name || name->size() < 2 || name->front() != '"' || name->back() != '"') return std::nullopt;
  return std::string(name->substr(1, name->size() - 2));
}

}  // namespace evo
