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
#include "mutators/mutator_set.h"

namespace evo {
namespace {

// One mutator looks at one template; that takes a second for the longest, and some for one that runs threads.
constexpr std::chrono::milliseconds kPlacesDeadline{30'000}, kPlacesLatest{120'000};

std::vector<std::string> SourceMutators() {
  const MutatorSet mutators;
  std::vector<std::string> names;
  for (const auto& [name, weight] : mutators.DefaultOperators()) {
    if (dynamic_cast<const SourceMutator*>(mutators.Find(name)) != nullptr) names.push_back(name);
  }
  return names;
}

// What breed workers say of each template. A mutator that takes too long has no place, and the others are still asked.
std::vector<nlohmann::json> PlacesIn(const std::vector<KernelTemplate>& templates, const CommandContext& context) {
  std::vector<TemplateText> texts;
  for (const KernelTemplate& one : templates) texts.push_back({one.name, one.digest, one.text});
  WorkerPool pool(BreedWorkers(texts, 1));
  const std::vector<std::string> mutators = SourceMutators();
  std::vector<Job> jobs;
  for (const KernelTemplate& one : templates) {
    for (const std::string& name : mutators) {
      Job job;
      job.request.header["places_in"] = one.name;
      job.request.header["operator"] = name;
      job.deadline = kPlacesDeadline;
      job.latest = kPlacesLatest;
      jobs.push_back(std::move(job));
    }
  }
  const std::vector<JobResult> results = AskWorkers(pool, std::move(jobs), context.interrupt);
  std::vector<nlohmann::json> replies(templates.size(), nlohmann::json::array());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string& name = templates[i / mutators.size()].name;
    nlohmann::json& places = replies[i / mutators.size()];
    if (results[i].reply) {
      for (const nlohmann::json& one : results[i].reply->header.at("places")) places.push_back(one);
      continue;
    }
    if (!results[i].death || results[i].death->kind != WorkerDeath::Kind::kDeadline)
      throw Error(fmt::format("template {}: {} could not be asked: {}", name, mutators[i % mutators.size()],
                              results[i].death ? results[i].death->description : "no worker answered"));
    const std::string why = fmt::format("it took too long: {}", results[i].death->description);
    places.push_back({{"mutator", mutators[i % mutators.size()]}, {"places", 0}, {"refusals", {why}}});
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
