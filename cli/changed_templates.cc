#include "cli/changed_templates.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/print.h"
#include "cli/stored_options.h"
#include "core/error.h"
#include "kernel_templates/kernel_template.h"

namespace evo {
namespace {

// Empty if there is no such template, or if it cannot be read.
std::string PresentDigest(const std::filesystem::path& file, const HeaderFolders& headers) {
  try {
    return LoadTemplate(file, headers).digest;
  } catch (const UsageError&) {
    return "";
  }
}

}  // namespace

std::vector<std::string> ChangedTemplates(const std::filesystem::path& folder, const RunRecord& run) {
  const std::vector<std::string> headers = OptionsOf(run).header_folders.value_or(std::vector<std::string>());
  std::vector<std::string> changed;
  for (const TemplateText& text : run.templates) {
    if (PresentDigest(folder / (text.name + ".cu"), {headers.begin(), headers.end()}) != text.digest)
      changed.push_back(text.name);
  }
  return changed;
}

void SayWhatChanged(std::FILE* messages, const std::filesystem::path& folder, const RunRecord& run) {
  const std::vector<std::string> changed = ChangedTemplates(folder, run);
  if (changed.empty()) return;
  Print(messages, "run {}: in {} the template{} {} changed since; the text that the run stored is used\n", run.id,
        folder.string(), changed.size() > 1 ? "s" : "",
        fmt::format("{} {}", fmt::join(changed, ", "), changed.size() > 1 ? "have" : "has"));
}

}  // namespace evo
