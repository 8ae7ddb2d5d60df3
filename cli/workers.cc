#include "cli/workers.h"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

#include "cli/print.h"
#include "platform/installation.h"

namespace evo {

std::vector<std::string> WorkerCommand() {
  std::vector<std::string> command;
  if (const char* launcher = std::getenv("EVO_LAUNCHER")) {
    std::istringstream words(launcher);
    for (std::string word; words >> word;) command.push_back(word);
  }
  command.push_back((ProgramDirectory() / "evo-worker").string());
  return command;
}

void PrintUnconfined(std::FILE* out, const std::set<std::string>& layers) {
  for (const std::string& layer : layers) Print(out, "workers are less confined here (docs/security.md): {}\n", layer);
}

void PrintReference(std::FILE* out, const Task& task) {
  if (task.reference_kind == ReferenceKind::kBaseline)
    Print(out, "right is what the baseline {} computes: an error that it has is not found\n", task.baseline);
  if (task.reference_kind == ReferenceKind::kPython)
    Print(out, "right is what {} computes\n", (task.directory / task.reference_file).string());
}

WorkerPoolOptions BreedWorkers(const std::vector<TemplateText>& templates, int workers) {
  nlohmann::json init = {{"role", "breed"}, {"templates", nlohmann::json::array()}};
  for (const TemplateText& text : templates) init["templates"].push_back({{"name", text.name}, {"text", text.text}});
  return {"breed", WorkerCommand(), init, workers};
}

}  // namespace evo
