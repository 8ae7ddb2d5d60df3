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

void Render(StoryStep& step, const StoryTools& tools, const RunRecord& run, const CandidateRecord& record) {
  try {
    step.source = tools.render(run, record);
  } catch (const Error& error) {
    step.no_source = error.what();
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

void AddDifference(StoryStep& step, const CandidateRecord& after, const StoryStep& last, const CandidateRecord& before) {
  step.no_difference = last.no_source.empty() ? step.no_source : last.no_source;
  if (!step.no_difference.empty()) return;
  step.difference = UnifiedDiff(NameOf(before), last.source, NameOf(after), step.source);
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

std::string_view BoundBy(Bottleneck found, double memory_share, double arithmetic_share) {
  if (found != Bottleneck::kNone) return CauseOf(found);
  const double highest = std::fmax(memory_share, arithmetic_share);  // ignores NaN
  if (std::isnan(highest)) return "";
  if (highest < kBusy) return "latency";
  return highest == memory_share ? "memory" : "arithmetic";
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
  story.steps.reserve(line.size());
  for (std::size_t i = 0; i < line.size(); ++i) {
    StoryStep& step = story.steps.emplace_back(StepOf(line[i], i == 0 ? nullptr : &line[i - 1], tools));
    step.speedup = story.baseline_ns / step.score_ns;
    for (const EfficiencyRow& row : history.Efficiency(run, step.candidate)) {
      step.memory_share = std::fmax(step.memory_share, row.memory_share);
      step.arithmetic_share = std::fmax(step.arithmetic_share, row.arithmetic_share);
    }
    step.bottleneck = BoundBy(line[i].evaluation.bottleneck, step.memory_share, step.arithmetic_share);
    step.evidence = line[i].evaluation.evidence;
    if (!tools.render) continue;
    Render(step, tools, record, line[i]);
    if (i > 0) AddDifference(step, line[i], story.steps[i - 1], line[i - 1]);
  }
  for (const Edit* edit : UnprovenEdits(line.back().candidate.genome, tools.promises)) story.unproven.push_back(edit->op);
  return story;
}

}  // namespace evo
