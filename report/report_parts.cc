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
    add(bounds.Add(std::string(BoundBy(r.bottleneck, r.memory_share, r.arithmetic_share))));
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

json StoryJson(const Story& story, SourceTable& sources) {
  json steps = json::array();
  for (const StoryStep& told : story.steps) {
    json step = {{"id", told.candidate},
                 {"generation", told.generation},
                 {"parents", told.parents},
                 {"operator", told.op},
                 {"description", told.description},
                 {"change", told.change},
                 {"outcome", ToString(told.outcome)},
                 {"score_ns", JsonNumber(told.score_ns)},
                 {"gain", JsonNumber(told.gain)},
                 {"speedup", JsonNumber(told.speedup)},
                 {"unproven", told.unproven},
                 {"facts", FactsJson(told.facts)},
                 {"memory_share", JsonNumber(told.memory_share)},
                 {"arithmetic_share", JsonNumber(told.arithmetic_share)},
                 {"bottleneck", told.bottleneck},
                 {"evidence", told.evidence}};
    if (!told.source.empty()) sources.Add(told.candidate, told.source);
    if (!told.no_source.empty()) step["no_source"] = told.no_source;
    steps.push_back(std::move(step));
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
