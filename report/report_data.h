#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/evaluation.h"
#include "core/search_space.h"
#include "db/history.h"
#include "story/story.h"

namespace evo {

// What a report is made with, beside the database. Each function may throw Error: what it would have given is left out then.
struct ReportTools {
  StoryTools story;                                            // what operators do and promise, and sources
  StoredRenderer render_once;                                  // the source of a candidate that a page asks for
  std::function<std::string(const CandidateRecord&)> verdict;  // in words
  // The evidence of a champion check: pairs of a heading and a text.
  std::function<std::vector<std::pair<std::string, std::string>>(const ChampionCheck&)> evidence;
  std::function<std::optional<SearchSpace>(const TemplateText&)> space;  // the parameters of a template
  std::string version;                                                   // of evo
};

// The time of another implementation of the same task, for a line in the charts.
struct Peer {
  std::string name;
  double ns = kNoValue;
};

struct ReportOptions {
  std::optional<RunId> run;               // unset: the latest
  std::size_t most_candidates = 100'000;  // with more, a regular sample of them is taken
  std::size_t most_described = 1'000;     // candidates whose change is told in words: the fastest, and the champion's line
  std::vector<Peer> peers;
};

// Everything that the page shows of a run, as the JSON document that docs/report.md describes. Reads the database as of one
// moment, also while a run writes; damaged parts are left out and told in the member "remarks". Texts are as the database holds
// them. Throws Error if the file cannot be read, UsageError if there is no such run.
nlohmann::json ReportData(const std::string& database, const ReportOptions& options, const ReportTools& tools);

// One candidate with its source, as the member "described" of the document has it, for a page that is served.
nlohmann::json CandidateData(const std::string& database, RunId run, CandidateId id, const ReportTools& tools);

// Changes whenever ReportData() would: made of the numbers of what is stored of the run. Takes milliseconds.
std::string ReportVersion(const std::string& database, std::optional<RunId> run);

}  // namespace evo
