#include "cli/workers.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

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

void WarnOfWorkers(const std::string& what) { fmt::print(stderr, "warning: {}\n", what); }

WorkerPoolOptions BreedWorkers(const std::vector<TemplateText>& templates, int workers) {
  nlohmann::json init = {{"role", "breed"}, {"templates", nlohmann::json::array()}};
  for (const TemplateText& text : templates) init["templates"].push_back({{"name", text.name}, {"text", text.text}});
  WorkerPoolOptions options{"breed", WorkerCommand(), init, workers};
  options.warn = WarnOfWorkers;
  return options;
}

}  // namespace evo
