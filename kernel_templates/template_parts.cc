#include "kernel_templates/template_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include "core/error.h"
#include "kernel_templates/directive_lexer.h"
#include "kernel_templates/parameter_block.h"
#include "kernel_templates/text_file.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

// Beginnings of the names of the toolkit's headers.
constexpr auto kToolkit = std::to_array<std::string_view>({
    "cooperative_groups",
    "cub/",
    "cuComplex.h",
    "cuda/",
    "cuda_",
    "curand",
    "device_launch_parameters.h",
    "math_constants.h",
    "mma.h",
    "sm_",
    "vector_functions.h",
    "vector_types.h",
});

bool IsOfToolkit(std::string_view name) {
  return std::any_of(kToolkit.begin(), kToolkit.end(), [&](std::string_view one) { return name.starts_with(one); });
}

// What keeps a header from being read twice.
struct Guard {
  bool present = false;
  std::set<int> lines;  // that only do this, and are left out
};

// The word of a preprocessor line, and what follows: {"ifndef", "X_H"}; empty for other lines.
std::pair<std::string_view, std::string_view> DirectiveOf(std::string_view line) {
  line = Trim(line);
  if (!line.starts_with('#')) return {};
  line = Trim(line.substr(1));
  const std::size_t end = std::min(line.find_first_of(" \t/"), line.size());
  const std::string_view rest = line.substr(end);
  return {line.substr(0, end), Trim(rest.substr(0, std::min(rest.find("//"), rest.find("/*"))))};
}

// `#pragma once`, or `#ifndef X`, `#define X` before anything else and `#endif` behind all.
Guard FindGuard(const std::string& text) {
  Guard guard;
  struct Line {
    int number;
    std::pair<std::string_view, std::string_view> directive;
  };
  std::vector<Line> lines;  // those that are not empty, without comments
  bool comment = false;
  for (const SourceLine& line : SplitLines(text)) {
    const std::string_view content = Trim(line.text);
    const auto directive = DirectiveOf(content);
    if (directive.first == "pragma" && directive.second == "once") {
      guard.present = true;
      guard.lines.insert(line.number);
    }
    if (!comment && content.starts_with("/*")) comment = true;
    const bool blank = comment || content.empty() || content.starts_with("//");
    if (comment && content.find("*/") != std::string_view::npos) comment = false;
    if (!blank) lines.push_back({line.number, directive});
  }
  if (guard.present || lines.size() < 3) return guard;
  const auto& [ifndef, define] = std::pair(lines[0].directive, lines[1].directive);
  if (ifndef.first != "ifndef" || define.first != "define" || define.second != ifndef.second) return guard;
  int depth = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view word = lines[i].directive.first;
    depth += word.starts_with("if") ? 1 : word == "endif" ? -1 : 0;
    if (depth == 1 && (word == "else" || word == "elif")) return guard;
    if (depth == 0 && i + 1 < lines.size()) return guard;
  }
  if (depth == 0) guard = {true, {lines.front().number, lines.back().number}};
  return guard;
}

class HeaderReader {
 public:
  explicit HeaderReader(const HeaderFolders& folders) : folders_(folders) {}

  // Adds the text of a file, without the lines that are left out.
  void Add(const fs::path& file, const std::string& text, const std::set<int>& left_out) {
    FindDirectives(file.string(), text);  // those that are malformed are named by this file's lines
    for (const SourceLine& line : SplitLines(text)) {
      const std::optional<std::string> name = QuotedInclude(line.text);
      if (name) {
        Include(file, *name, line.number);
      } else if (!left_out.contains(line.number)) {
        AddLine(line.text, file, line.number);
      }
    }
  }

  SourceText Take() { return std::move(result_); }

 private:
  void AddLine(std::string_view line, const fs::path& file, int number) {
    result_.text += line;
    result_.text += '\n';
    result_.lines.push_back({file.string(), number});
  }

  void Include(const fs::path& file, const std::string& name, int number) {
    const std::string place = fmt::format("{}:{}: #include \"{}\"", file.string(), number, name);
    if (name.ends_with(".cu"))
      throw UsageError(fmt::format("{}: a .cu file; only a variant includes one, and nothing else", place));
    const std::optional<fs::path> header = Find(file.parent_path(), name);
    if (!header) {
      if (!IsOfToolkit(name)) throw UsageError(NotFound(place, file.parent_path()));
      return AddLine(fmt::format("#include <{}>", name), file, number);
    }
    const fs::path whole = fs::weakly_canonical(*header);
    if (once_.contains(whole)) return;
    if (std::find(open_.begin(), open_.end(), whole) != open_.end()) {
      throw UsageError(fmt::format(
          "{}: the headers include each other in a circle; begin them with #pragma once, or remove one of these lines", place));
    }
    const std::optional<std::string> text = ReadTextFile(*header);
    if (!text) throw UsageError(fmt::format("{}: {} cannot be read", place, header->string()));
    const Guard guard = FindGuard(*text);
    if (guard.present) once_.insert(whole);
    open_.push_back(whole);
    AddLine(fmt::format("// From {}:", name), file, number);
    Add(*header, *text, guard.lines);
    AddLine(fmt::format("// End of {}.", name), file, number);
    open_.pop_back();
  }

  std::optional<fs::path> Find(const fs::path& beside, const std::string& name) const {
    std::error_code failed;
    if (fs::is_regular_file(beside / name, failed)) return (beside / name).lexically_normal();
    for (const fs::path& folder : folders_) {
      if (fs::is_regular_file(folder / name, failed)) return (folder / name).lexically_normal();
    }
    return std::nullopt;
  }

  std::string NotFound(const std::string& place, const fs::path& beside) const {
    std::vector<std::string> searched{beside.empty() ? "." : beside.string()};
    for (const fs::path& folder : folders_) searched.push_back(folder.string());
    return fmt::format("{}: not found in {}; name its folder with --include, or write a header of the CUDA toolkit as <NAME>",
                       place, fmt::join(searched, ", "));
  }

  const HeaderFolders& folders_;
  std::vector<fs::path> open_;  // headers whose text is being read, outermost first
  std::set<fs::path> once_;     // those that are not read again
  SourceText result_;
};

}  // namespace

SourceText IncludeHeaders(const fs::path& file, const std::string& text, const HeaderFolders& folders) {
  HeaderReader reader(folders);
  reader.Add(file, text, {});
  SourceText result = reader.Take();
  // The file's last line stays without a line end.
  const std::size_t last = text.rfind('\n') + 1;
  if (last < text.size() && !QuotedInclude(std::string_view(text).substr(last))) result.text.pop_back();
  return result;
}

}  // namespace evo
