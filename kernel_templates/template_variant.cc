#include "kernel_templates/template_variant.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernel_templates/directive_lexer.h"
#include "kernel_templates/parameter_block.h"
#include "kernel_templates/size_macro.h"
#include "kernel_templates/template_parts.h"
#include "kernel_templates/text_file.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

// Variants that include each other in a longer chain are taken for a circle.
constexpr int kDeepest = 8;

struct Definition {
  std::string name;
  std::int64_t value = 0;
  int line = 0;
};

struct Variant {
  std::string base;  // as written in the #include; empty if the file is not a variant
  std::vector<Definition> definitions;
};

[[noreturn]] void Fail(const fs::path& file, int line, std::string_view what) {
  throw UsageError(fmt::format("{}:{}: {}", file.string(), line, what));
}

// FILE.cu of `#include "FILE.cu"`; empty for any other line.
std::string IncludedTemplate(std::string_view line) {
  const std::optional<std::string> name = QuotedInclude(line);
  return name && name->ends_with(".cu") ? *name : "";
}

std::optional<Definition> ParseDefinition(std::string_view text, int line) {
  constexpr std::string_view kDefine = "#define ";
  if (!text.starts_with(kDefine)) return std::nullopt;
  text = Trim(text.substr(kDefine.size()));
  const std::size_t blank = std::min(text.find(' '), text.size());
  const std::string_view value = Trim(text.substr(blank));
  Definition definition{std::string(text.substr(0, blank)), 0, line};
  const auto read = std::from_chars(value.data(), value.data() + value.size(), definition.value);
  if (!IsIdentifier(definition.name) || read.ec != std::errc() || read.ptr != value.data() + value.size()) return std::nullopt;
  return definition;
}

Variant ParseVariant(const fs::path& file, const std::string& text) {
  Variant variant;
  const std::vector<SourceLine> lines = SplitLines(text);
  const auto includes =
      std::find_if(lines.begin(), lines.end(), [](const SourceLine& l) { return !IncludedTemplate(l.text).empty(); });
  if (includes == lines.end()) return variant;
  variant.base = IncludedTemplate(includes->text);
  for (const SourceLine& line : lines) {
    const std::string_view content = Trim(line.text);
    if (content.empty() || line.number == includes->number) continue;
    if (content.starts_with("//") && content.find("evo:") == std::string_view::npos) continue;
    const auto definition = ParseDefinition(content, line.number);
    if (!definition || line.number > includes->number) {
      Fail(file, line.number,
           "a variant has comments, '#define NAME integer' lines and then one #include of a .cu file, and nothing else");
    }
    variant.definitions.push_back(*definition);
  }
  return variant;
}

// Gives a name its value: in its block, and as the only value of a parameter of this name.
std::string Fix(std::string text, const fs::path& file, const Definition& definition) {
  const std::vector<ParameterBlock> blocks = FindParameterBlocks(text);
  const auto block =
      std::find_if(blocks.begin(), blocks.end(), [&](const ParameterBlock& b) { return b.name == definition.name; });
  if (block == blocks.end()) {
    Fail(file, definition.line,
         fmt::format("{0}: the included file has no lines '#ifndef {0}', '#define {0} value', '#endif'", definition.name));
  }
  if (IsSizeMacro(text, definition.name)) {
    Fail(file, definition.line,
         fmt::format("{0}: an evo:size of the included file, which has a value in each case; leave this line out",
                     definition.name));
  }
  const std::string value = std::to_string(definition.value);
  text.replace(block->value_begin, block->value_end - block->value_begin, value);
  for (const Directive& directive : FindDirectives(file.string(), text)) {
    const std::string_view declared = directive.text;
    if (directive.word != "param" || declared.substr(0, declared.find(' ')) != definition.name) continue;
    const std::size_t begin = directive.origin.front();
    return text.replace(begin, directive.end - begin, definition.name + ' ' + value);
  }
  return text;
}

std::optional<SourceText> Read(const fs::path& file, const HeaderFolders& folders, int depth) {
  const std::optional<std::string> text = ReadTextFile(file);
  if (!text) return std::nullopt;
  const Variant variant = ParseVariant(file, *text);
  if (variant.base.empty()) return IncludeHeaders(file, *text, folders);
  const fs::path base = file.parent_path() / variant.base;
  if (depth == kDeepest)
    throw UsageError(fmt::format("{}: more than {} variants include each other; is there a circle?", file.string(), kDeepest));
  std::optional<SourceText> whole = Read(base, folders, depth + 1);
  if (!whole) throw UsageError(fmt::format("{}: the file that it includes, {}, cannot be read", file.string(), base.string()));
  for (const Definition& definition : variant.definitions) whole->text = Fix(std::move(whole->text), file, definition);
  return whole;
}

}  // namespace

std::optional<SourceText> ReadTemplate(const fs::path& file, const HeaderFolders& folders) { return Read(file, folders, 0); }

std::optional<std::string> ReadTemplateText(const fs::path& file, const HeaderFolders& folders) {
  std::optional<SourceText> source = ReadTemplate(file, folders);
  if (!source) return std::nullopt;
  return std::move(source->text);
}

}  // namespace evo
