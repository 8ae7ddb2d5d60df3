#include "story/story.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

#include "core/error.h"
#include "story/unified_diff.h"
#include "story/words.h"

namespace evo {
namespace {

// Below that share of every ceiling a kernel waits for something else: latencies, barriers, too few threads.
constexpr double kBusy = 0.5;

struct Rendered {
  std::string source;
  std::string failure;  // why there is no source; empty if there is one
};

Rendered Render(const StoryTools& tools, const RunRecord& run, const CandidateRecord& record) {
  try {
    return {RenderStored(tools.render, run, record), ""};
  } catch (const Error& error) {
    return {"", error.what()};
  }
}

std::string NameOf(const CandidateRecord& record) {
  return record.candidate.genome.template_name + ".cu candidate " + std::to_string(record.candidate.id);
}

void CountLines(StoryStep& step) {
  std::istringstream lines(step.difference);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("--- ") || line.starts_with("+++ ")) continue;
    step.lines_removed += line.starts_with("-") ? 1 : 0;
    step.lines_added += line.starts_with("+") ? 1 : 0;
  }
}

void AddDifference(StoryStep& step, const CandidateRecord& before, const Rendered& from, const CandidateRecord& after,
                   const Rendered& to) {
  step.no_difference = from.failure.empty() ? to.failure : from.failure;
  if (!step.no_difference.empty()) return;
  step.difference = UnifiedDiff(NameOf(before), from.source, NameOf(after), to.source);
  CountLines(step);
}

std::vector<std::string> UnprovenOf(const std::vector<const Edit*>& edits, const Promises& promises) {
  std::vector<std::string> unproven;
  for (const Edit* edit : edits) {
    if (PromiseOf(promises, edit->op) == Promise::kUnproven) unproven.push_back(edit->op);
  }
  return unproven;
}

StoryStep StepOf(const CandidateRecord& record, const CandidateRecord* before, const StoryTools& tools) {
  const Candidate& candidate = record.candidate;
  StoryStep step;
  step.candidate = candidate.id;
  step.generation = candidate.generation;
  step.parents = candidate.parents;
  step.op = candidate.op;
  if (const auto found = tools.descriptions.find(candidate.op); found != tools.descriptions.end())
    step.description = found->second;
  step.change = DescribeStep(candidate, before == nullptr ? nullptr : &before->candidate);
  step.outcome = record.evaluation.outcome;
  step.score_ns = record.evaluation.score_ns;
  if (before != nullptr) step.gain = before->evaluation.score_ns / step.score_ns;
  step.unproven =
      UnprovenOf(AddedEdits(candidate.genome, before == nullptr ? Genome{} : before->candidate.genome), tools.promises);
  step.facts = record.evaluation.facts;
  return step;
}

}  // namespace

std::string Bottleneck(const std::vector<EfficiencyRow>& cases) {
  double memory = kNoValue;
  double arithmetic = kNoValue;
  for (const EfficiencyRow& row : cases) {
    memory = std::fmax(memory, row.memory_share);  // ignores NaN
    arithmetic = std::fmax(arithmetic, row.arithmetic_share);
  }
  const double highest = std::fmax(memory, arithmetic);
  if (std::isnan(highest)) return "";
  if (highest < kBusy) return "latency";
  return highest == memory ? "memory" : "arithmetic";
}

Story TellStory(const History& history, RunId run, CandidateId candidate, const StoryTools& tools) {
  const RunRecord record = history.FindRun(run).record;
  const std::vector<CandidateRecord> line = history.Lineage(run, candidate);
  const std::optional<CandidateRecord> baseline = history.Baseline(run);
  Story story;
  story.run = run;
  story.task = record.task;
  story.device_name = record.device_name;
  story.l2 = record.l2;
  story.champion = candidate;
  story.baseline = record.baseline;
  if (baseline) story.baseline_ns = baseline->evaluation.score_ns;
  Rendered before;
  for (std::size_t i = 0; i < line.size(); ++i) {
    StoryStep& step = story.steps.emplace_back(StepOf(line[i], i == 0 ? nullptr : &line[i - 1], tools));
    step.speedup = story.baseline_ns / step.score_ns;
    step.bottleneck = Bottleneck(history.Efficiency(run, step.candidate));
    if (!tools.render) continue;
    Rendered present = Render(tools, record, line[i]);
    if (i > 0) AddDifference(step, line[i - 1], before, line[i], present);
    before = std::move(present);
  }
  for (const Edit* edit : UnprovenEdits(line.back().candidate.genome, tools.promises)) story.unproven.push_back(edit->op);
  return story;
}

}  // namespace evo
