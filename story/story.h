#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/promise.h"
#include "db/history.h"
#include "story/rendering.h"

namespace evo {

// The way from a template to a candidate, step by step, as a value that the terminal, the report and JSON show alike. Texts are
// as the database holds them: whoever shows them cleans or escapes them.

// What a story is told with. All of it may be empty; then the parts that need it are left out.
struct StoryTools {
  StoredRenderer render;                            // empty: no sources and no differences
  Promises promises;                                // by operator; one that is missing promises nothing
  std::map<std::string, std::string> descriptions;  // by operator: what it does, in one line
};

struct StoryStep {
  CandidateId candidate = 0;
  int generation = 0;
  std::vector<CandidateId> parents;  // the first is the step before, unless that one is damaged or missing
  std::string op;                    // operator
  std::string description;           // what the operator does in general, one line; empty if it is not known
  std::string change;                // what it did here, one line: "replace an if in scale by `y[i] = 2 * x[i];`"
  Outcome outcome = Outcome::kOk;
  double score_ns = kNoValue;         // weighted geometric mean of the search cases' medians
  double gain = kNoValue;             // score of the step before over this one; kNoValue for the first step
  double speedup = kNoValue;          // score of the run's baseline over this one
  std::vector<std::string> unproven;  // operators of the edits that this step added and that promise nothing
  KernelFacts facts;                  // registers, spills, occupancy of this candidate; those before are in the step before
  double memory_share = kNoValue;     // of the machine's ceilings, the largest over the cases
  double arithmetic_share = kNoValue;
  std::string bottleneck;  // BoundBy() of the two
  std::string evidence;    // for it, one line; empty if there is none
  std::string source;      // empty if there is none
  std::string no_source;   // why it could not be rendered
  std::string difference;  // unified, from the source of the step before; empty for the first step
  int lines_removed = 0;   // in the difference
  int lines_added = 0;
  std::string no_difference;  // why there is none although there is a step before; empty if there is one
};

struct Story {
  RunId run = 0;
  std::string task;
  std::string device_name;
  std::string l2;  // "hot" or "cold"
  CandidateId champion = 0;
  std::string baseline;               // name of its template
  double baseline_ns = kNoValue;      // its score in the search; kNoValue if it was not evaluated
  std::vector<StoryStep> steps;       // from the template, or from the first ancestor that can be read, to the candidate
  std::vector<std::string> unproven;  // operators of the candidate's edits that promise nothing, in the order of its genome
};

// The story of a candidate of a run. Reads only the candidate's own line, however many others the run has. Throws UsageError if
// there is no such run or candidate, and Error if it is damaged. What cannot be rendered has no difference, and says why.
Story TellStory(const History& history, RunId run, CandidateId candidate, const StoryTools& tools);

// What bounds a kernel: what was found when it was timed, in words. Where nothing was, by its shares of the machine's ceilings:
// "memory", "arithmetic", or "latency" if neither is at half of its ceiling; empty if neither is known.
std::string_view BoundBy(Bottleneck found, double memory_share, double arithmetic_share);

}  // namespace evo
