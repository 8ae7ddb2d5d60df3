#include "import/program_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/error.h"
#include "kernel_templates/directive_lexer.h"
#include "kernel_templates/parameter_block.h"
#include "kernel_templates/text_file.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

// NAME of a line `#include <NAME>`.
std::optional<std::string> AngleInclude(std::string_view line) {
  line = Trim(line);
  if (!line.starts_with('#')) return std::nullopt;
  line = Trim(line.substr(1));
  if (!line.starts_with("include")) return std::nullopt;
  line = Trim(line.substr(7));
  const std::size_t end = line.find('>');
  if (!line.starts_with('<') || end == std::string_view::npos) return std::nullopt;
  return std::string(line.substr(1, end - 1));
}

class TextReader {
 public:
  TextReader(fs::path home, const std::vector<fs::path>& folders) : home_(std::move(home)), folders_(folders) {}

  void Add(const fs::path& file) {
    const std::string contents = ReadSourceFile(file);
    read_.insert(fs::weakly_canonical(file));
    for (const SourceLine& line : SplitLines(contents)) {
      const std::optional<std::string> quoted = QuotedInclude(line.text);
      const std::optional<std::string> name = quoted ? quoted : AngleInclude(line.text);
      const std::optional<fs::path> found = name ? Find(*name, file.parent_path(), quoted.has_value()) : std::nullopt;
      if (!found) {
        if (line.text.empty() && line.begin == contents.size()) continue;  // after the last line end
        // One of the toolkit, perhaps: the parser looks for it.
        AddLine(quoted ? fmt::format("#include <{}>", *quoted) : std::string(line.text), file, line.number);
      } else if (!read_.contains(fs::weakly_canonical(*found))) {
        Add(*found);
      } else {
        AddLine("", file, line.number);
      }
    }
  }

  ProgramText result_;

 private:
  void AddLine(std::string line, const fs::path& file, int number) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.find("#pragma once") != std::string::npos) line.clear();
    result_.text += line + "\n";
    result_.lines.push_back({file.filename().string(), number});
  }

  std::optional<fs::path> Find(const std::string& name, const fs::path& beside, bool quoted) const {
    std::vector<fs::path> folders;
    if (quoted) folders = {beside, home_};
    folders.insert(folders.end(), folders_.begin(), folders_.end());
    for (const fs::path& folder : folders) {
      std::error_code failed;
      const fs::path file = folder / name;
      if (fs::is_regular_file(file, failed)) return file;
    }
    return std::nullopt;
  }

  fs::path home_;
  const std::vector<fs::path>& folders_;
  std::set<fs::path> read_;
};

}  // namespace

ProgramText ReadProgramText(const fs::path& file, const std::vector<fs::path>& folders) {
  TextReader reader(file.parent_path(), folders);
  reader.Add(file);
  return std::move(reader.result_);
}

}  // namespace evo
