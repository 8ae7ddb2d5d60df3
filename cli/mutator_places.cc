#include "cli/mutator_places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <utility>
#include <vector>

#include "cli/describe.h"
#include "cli/print.h"
#include "cli/run_setup.h"
#include "cli/table.h"
#include "cli/workers.h"
#include "core/error.h"
#include "kernel_templates/kernel_template.h"

namespace evo {
namespace {

// All mutators look at one template; that takes a second for the longest.
constexpr std::chrono::milliseconds kPlacesDeadline{60'000};

// One reply of breed workers for each template.
std::vector<nlohmann::json> PlacesIn(const std::vector<KernelTemplate>& templates, const CommandContext& context) {
  std::vector<TemplateText> texts;
  for (const KernelTemplate& one : templates) texts.push_back({one.name, one.digest, one.text});
  WorkerPool pool(BreedWorkers(texts, 1));
  std::vector<Job> jobs;
  for (const KernelTemplate& one : templates) {
    Job job;
    job.request.header["places_in"] = one.name;
    job.deadline = kPlacesDeadline;
    jobs.push_back(std::move(job));
  }
  const std::vector<JobResult> results = AskWorkers(pool, std::move(jobs), context.interrupt);
  std::vector<nlohmann::json> replies;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].reply)
      throw Error(fmt::format("template {}: its mutators could not be asked: {}", templates[i].name,
                              results[i].death ? results[i].death->description : "no worker answered"));
    replies.push_back(results[i].reply->header.at("places"));
  }
  return replies;
}

}  // namespace

void PrintMutatorPlaces(const std::string& task, bool json, const CommandContext& context) {
  RunOptions options;
  options.task = task;
  const std::vector<KernelTemplate> templates = LoadTemplates(LoadAskedTask(options, context).directory);
  const std::vector<nlohmann::json> replies = PlacesIn(templates, context);
  if (json) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < templates.size(); ++i) all.push_back({{"template", templates[i].name}, {"mutators", replies[i]}});
    return PrintLines(context.out, Dump(all));
  }
  for (std::size_t i = 0; i < templates.size(); ++i) {
    std::vector<std::string> with;
    Table reasons({"template", "mutator", "why not"});
    bool any = false;
    for (const nlohmann::json& one : replies[i]) {
      const auto name = one.at("mutator").get<std::string>();
      const auto places = one.at("places").get<std::size_t>();
      if (places > 0) with.push_back(fmt::format("{} {}", name, places));
      for (const nlohmann::json& why : one.at("refusals")) {
        reasons.Add({templates[i].name, name, why.get<std::string>()});
        any = true;
      }
    }
    PrintWrapped(context.out, fmt::format("{}: {}", templates[i].name,
                                          with.empty() ? "no mutator has a place" : fmt::format("{}", fmt::join(with, ", "))));
    if (any) reasons.Print(context.out);
  }
}

}  // namespace evo
