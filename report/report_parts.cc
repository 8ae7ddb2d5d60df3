#include "report/report_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/record_json.h"

namespace evo {
namespace {

using nlohmann::json;

// Scores are weighted geometric means of medians, so their percentiles are too.
double WeightedMean(const std::vector<CaseMeasurement>& cases, double CaseMeasurement::*field) {
  double logs = 0;
  double weights = 0;
  for (const CaseMeasurement& m : cases) {
    logs += m.weight * std::log(m.*field);
    weights += m.weight;
  }
  return cases.empty() ? kNoValue : std::exp(logs / weights);
}

// When a candidate was known: generations are recorded whole, so that within one the time is a share of it.
double SecondsOf(const std::vector<GenerationTime>& times, CandidateId id) {
  double before = 0;
  std::int64_t first = 0;
  for (const GenerationTime& time : times) {
    if (id <= first + time.evaluated) {
      return before + (time.seconds - before) * static_cast<double>(id - first) / static_cast<double>(time.evaluated);
    }
    first += time.evaluated;
    before = time.seconds;
  }
  return before;
}

json FactsJson(const KernelFacts& facts) {
  const auto known = [](int value) { return value < 0 ? json() : json(value); };
  return {{"registers", known(facts.registers)},
          {"static_shared_bytes", known(facts.static_shared_bytes)},
          {"dynamic_shared_bytes", known(facts.dynamic_shared_bytes)},
          {"spill_bytes", known(facts.spill_bytes)},
          {"local_bytes", known(facts.local_bytes)},
          {"occupancy", JsonNumber(facts.occupancy)}};
}

// Operators of the edits that the candidate has and its parent has not, if they promise nothing.
json UnprovenOf(const Candidate& candidate, const Candidate* parent, const Promises& promises) {
  json unproven = json::array();
  for (const Edit* edit : UnprovenEdits(candidate.genome, promises)) {
    const auto& before = parent == nullptr ? std::vector<Edit>() : parent->genome.edits;
    if (std::find(before.begin(), before.end(), *edit) == before.end()) unproven.push_back(edit->op);
  }
  return unproven;
}

}  // namespace

json JsonNumber(double value) {
  if (!std::isfinite(value)) return {};
  if (value == 0) return 0;
  const double unit = std::pow(10.0, 5 - std::floor(std::log10(std::fabs(value))));
  const double rounded = std::isfinite(unit) && unit > 0 ? std::round(value * unit) / unit : value;
  constexpr double kExact = 9e15;
  if (rounded == std::floor(rounded) && std::fabs(rounded) < kExact) return static_cast<std::int64_t>(rounded);
  return rounded;
}

int TextTable::Add(const std::string& text) {
  const auto [found, added] = numbers_.emplace(text, static_cast<int>(numbers_.size()));
  if (added) texts_.push_back(text);
  return found->second;
}

void SourceTable::Add(CandidateId id, std::string_view source) {
  json numbers = json::array();
  while (!source.empty()) {
    const std::size_t end = source.find('\n');
    numbers.push_back(lines_.Add(std::string(source.substr(0, end))));
    source.remove_prefix(end == std::string_view::npos ? source.size() : end + 1);
  }
  of_[std::to_string(id)] = std::move(numbers);
}

json SourceTable::ToJson() const { return {{"lines", lines_.texts()}, {"of", of_}}; }

std::string_view BoundBy(double memory_share, double arithmetic_share) {
  constexpr double kNear = 0.5;
  if (std::isnan(memory_share) && std::isnan(arithmetic_share)) return "";
  if (std::fmax(memory_share, arithmetic_share) < kNear) return "latency";
  return std::isnan(arithmetic_share) || memory_share >= arithmetic_share ? "memory" : "arithmetic";
}

double CeilingNs(const CandidateRecord& baseline, const std::vector<EfficiencyRow>& efficiency) {
  std::vector<CaseMeasurement> cases = baseline.evaluation.cases;
  if (cases.size() != efficiency.size() || cases.empty()) return kNoValue;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const double share = std::fmax(efficiency[i].memory_share, efficiency[i].arithmetic_share);
    if (std::isnan(share) || !(share > 0)) return kNoValue;
    cases[i].median_ns *= share;
  }
  return WeightedMean(cases, &CaseMeasurement::median_ns);
}

json CandidateColumns(const ReportRows& rows, RunId run, std::int64_t total, std::int64_t stride,
                      const std::vector<CandidateId>& also) {
  TextTable operators;
  TextTable templates;
  TextTable outcomes;
  TextTable messages;
  TextTable parameters;
  TextTable bounds;
  bounds.Add("");
  messages.Add("");
  json c = {{"total", total}, {"stride", stride}};
  const std::vector<const char*> columns = {"id",      "generation", "operator", "template", "parameters", "outcome",
                                            "message", "score_ns",   "parent",   "second",   "registers",  "spill_bytes",
                                            "compile", "check",      "time",     "copied",   "bound"};
  std::vector<json*> column;
  for (const char* name : columns) c[name] = json::array();
  column.reserve(columns.size());
  for (const char* name : columns) column.push_back(&c[name]);
  const auto milliseconds = [](double ms) { return JsonNumber(std::round(ms * 10) / 10); };
  rows.Candidates(run, stride, also, [&](ReportRow&& r) {
    std::size_t at = 0;
    const auto add = [&](json value) { column[at++]->push_back(std::move(value)); };
    add(r.id);
    add(r.generation);
    add(operators.Add(r.op));
    add(templates.Add(r.template_name));
    add(parameters.Add(r.parameters));
    add(outcomes.Add(r.outcome));
    add(messages.Add(r.message));
    add(r.score_ns > 0 ? JsonNumber(r.score_ns) : json());
    add(r.parent);
    add(r.second_parent);
    add(r.registers);
    add(r.spill_bytes);
    add(milliseconds(r.compile_ms));
    add(milliseconds(r.check_ms));
    add(milliseconds(r.time_ms));
    add(r.copied ? 1 : 0);
    add(bounds.Add(std::string(BoundBy(r.memory_share, r.arithmetic_share))));
  });
  c["operators"] = operators.texts();
  c["templates"] = templates.texts();
  c["outcomes"] = outcomes.texts();
  c["messages"] = messages.texts();
  c["parameter_texts"] = parameters.texts();
  c["bounds"] = bounds.texts();
  return c;
}

json ProgressColumns(const History& history, const ReportRows& rows, RunId run) {
  json p = {{"id", json::array()},
            {"seconds", json::array()},
            {"score_ns", json::array()},
            {"low_ns", json::array()},
            {"high_ns", json::array()}};
  const std::vector<GenerationTime> times = rows.GenerationTimes(run);
  for (const Improvement& one : rows.Improvements(run)) {
    double low = kNoValue;
    double high = kNoValue;
    try {
      const CandidateRecord record = history.FindCandidate(run, one.id);
      low = WeightedMean(record.evaluation.cases, &CaseMeasurement::p10_ns);
      high = WeightedMean(record.evaluation.cases, &CaseMeasurement::p90_ns);
    } catch (const Error&) {  // damaged: its score is known, its band is not
    }
    p["id"].push_back(one.id);
    p["seconds"].push_back(JsonNumber(SecondsOf(times, one.id)));
    p["score_ns"].push_back(JsonNumber(one.score_ns));
    p["low_ns"].push_back(JsonNumber(low));
    p["high_ns"].push_back(JsonNumber(high));
  }
  return p;
}

json StoryJson(const History& history, const RunRecord& run, const CandidateRecord& champion, const ReportTools& tools,
               SourceTable& sources) {
  json steps = json::array();
  const std::vector<CandidateRecord> line = history.Lineage(run.id, champion.candidate.id);
  const std::optional<CandidateRecord> baseline = history.Baseline(run.id);
  const CandidateRecord* before = nullptr;
  for (const CandidateRecord& record : line) {
    const Candidate& c = record.candidate;
    const Candidate* parent = before == nullptr ? nullptr : &before->candidate;
    const std::vector<EfficiencyRow> efficiency = history.Efficiency(run.id, c.id);
    double memory = kNoValue;
    double arithmetic = kNoValue;
    for (const EfficiencyRow& row : efficiency) {
      memory = std::fmax(memory, row.memory_share);
      arithmetic = std::fmax(arithmetic, row.arithmetic_share);
    }
    const auto described = tools.descriptions.find(c.op);
    json step = {{"id", c.id},
                 {"generation", c.generation},
                 {"parents", c.parents},
                 {"operator", c.op},
                 {"description", described == tools.descriptions.end() ? "" : described->second},
                 {"change", tools.describe_step ? tools.describe_step(c, parent) : ""},
                 {"outcome", ToString(record.evaluation.outcome)},
                 {"score_ns", JsonNumber(record.evaluation.score_ns)},
                 {"gain", before == nullptr ? json() : JsonNumber(before->evaluation.score_ns / record.evaluation.score_ns)},
                 {"speedup", baseline ? JsonNumber(baseline->evaluation.score_ns / record.evaluation.score_ns) : json()},
                 {"unproven", UnprovenOf(c, parent, tools.promises)},
                 {"facts", FactsJson(record.evaluation.facts)},
                 {"memory_share", JsonNumber(memory)},
                 {"arithmetic_share", JsonNumber(arithmetic)},
                 {"bottleneck", BoundBy(memory, arithmetic)}};
    try {
      if (tools.render) sources.Add(c.id, tools.render(run, record));
    } catch (const Error& error) {
      step["no_source"] = error.what();
    }
    steps.push_back(std::move(step));
    before = &record;
  }
  return steps;
}

json CheckJson(const CandidateRecord& champion, const ReportTools& tools) {
  json check = {{"id", champion.candidate.id}, {"verdict", tools.verdict ? tools.verdict(champion) : ""}};
  check["evidence"] = json::array();
  if (!champion.check) return check;
  const ChampionCheck& c = *champion.check;
  check["outcome"] = ToString(c.outcome);
  check["message"] = c.message;
  check["speedup"] = JsonNumber(c.speedup);
  check["candidate_ns"] = JsonNumber(c.candidate_ns);
  check["baseline_ns"] = JsonNumber(c.baseline_ns);
  check["held_out"] = c.held_out_cases;
  check["tools"] = json::array();
  for (const ToolResult& tool : c.tools) check["tools"].push_back(tool);
  check["sizes"] = c.domain.sizes;
  check["inputs"] = c.domain.inputs;
  check["left_out"] = json::array();
  for (const LeftOut& one : c.domain.left_out) check["left_out"].push_back(one);
  check["adversary"] = c.adversary;
  check["slowest"] = c.slowest;
  check["fresh_ratio"] = JsonNumber(c.fresh_ratio);
  check["reference"] = c.reference;
  const auto cases = [](const std::vector<CaseMeasurement>& measured) {
    json list = json::array();
    for (const CaseMeasurement& m : measured)
      list.push_back({{"name", m.name},
                      {"median_ns", JsonNumber(m.median_ns)},
                      {"p10_ns", JsonNumber(m.p10_ns)},
                      {"p90_ns", JsonNumber(m.p90_ns)}});
    return list;
  };
  check["cases"] = cases(c.candidate);
  check["baseline_cases"] = cases(c.baseline);
  if (tools.evidence) {
    for (const auto& [heading, text] : tools.evidence(c)) check["evidence"].push_back({heading, text});
  }
  return check;
}

}  // namespace evo
