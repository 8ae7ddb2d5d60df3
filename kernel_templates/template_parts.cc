#include "kernel_templates/template_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "kernel_templates/directive_lexer.h"
#include "kernel_templates/parameter_block.h"
#include "kernel_templates/text_file.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

class PartReader {
 public:
  explicit PartReader(fs::path folder) : folder_(std::move(folder)) {}

  std::string Expand(const fs::path& file, const std::string& text) {
    std::string result;
    for (const SourceLine& line : SplitLines(text)) {
      const std::optional<std::string> name = QuotedInclude(line.text);
      if (name) {
        result += Part(*name, fmt::format("{}:{}: #include \"{}\"", file.string(), line.number, *name));
      } else if (open_.empty() || Trim(line.text) != "#pragma once") {
        result += line.text;
        if (line.begin + line.text.size() < text.size()) result += '\n';
      }
    }
    return result;
  }

 private:
  // The text that takes the place of an #include; `place` says in messages where that is.
  std::string Part(const std::string& name, const std::string& place) {
    if (!name.ends_with(".cuh") || fs::path(name).filename() != name) {
      throw UsageError(
          fmt::format("{}: not a .cuh file of the template's own folder; write a header of the CUDA toolkit as <NAME>", place));
    }
    if (std::find(open_.begin(), open_.end(), name) != open_.end()) {
      throw UsageError(fmt::format("{}: the parts include each other in a circle; remove one of these lines", place));
    }
    if (!included_.insert(name).second) return "";
    const fs::path file = folder_ / name;
    const std::optional<std::string> text = ReadTextFile(file);
    if (!text) throw UsageError(fmt::format("{}: {} cannot be read", place, file.string()));
    open_.push_back(name);
    std::string part = Expand(file, *text);
    open_.pop_back();
    if (!part.ends_with('\n')) part += '\n';
    return fmt::format("// From {0}:\n{1}// End of {0}.\n", name, part);
  }

  fs::path folder_;
  std::vector<std::string> open_;  // parts whose text is being read, outermost first
  std::set<std::string> included_;
};

}  // namespace

std::string IncludeParts(const fs::path& file, const std::string& text) {
  return PartReader(file.parent_path()).Expand(file, text);
}

}  // namespace evo
