#include "tests/db/fixture_run.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include "core/digest.h"
#include "db/sqlite_store.h"

namespace evo::testing {
namespace {

constexpr const char* kTemplateText = R"(#ifndef BLOCK
#define BLOCK 64
#endif
// evo:param BLOCK 64 128 256
// evo:launch scale(x, y, n) grid(ceil_div(n, BLOCK)) block(BLOCK)
extern "C" __global__ void scale(const float* x, float* y, int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
)";

Edit SourceEdit(const std::string& op, const std::string& text) {
  Edit edit;
  edit.op = op;
  edit.anchors.push_back({"scale", "IfStmt", "00ff", 0, "11", "22", "", {0, 3, 1}});
  edit.source.push_back({0, Placement::kReplace, text});
  return edit;
}

Genome MakeGenome(std::int64_t block, std::vector<Edit> edits) {
  return {"scale", Digest(kTemplateText), {{"BLOCK", block}}, std::move(edits)};
}

CaseMeasurement MakeCase(const std::string& name, double median_ns) {
  CaseMeasurement m;
  m.outliers = 1;
  m.sm_low_mhz = 1755;
  m.sm_high_mhz = 1980;
  m.throttle_reason = "power cap";
  m.launches = "scale<64> grid 8x1x1 block 128x1x1 shared 0";
  m.bytes = 1e6;
  m.name = name;
  m.weight = name == "large" ? 2 : 1;
  m.median_ns = median_ns;
  m.p10_ns = median_ns * 0.99;
  m.p90_ns = median_ns * 1.02;
  m.busy_ns = median_ns - 7;
  m.tick_ns = 32;
  m.samples = {static_cast<std::uint32_t>(median_ns / 32), 0x01020304U, 0xfffffffeU};
  m.discarded = 1;
  m.max_error = 1.25e-6;
  m.l2_error = 0.1 + 0.2;  // has no short decimal form, so that a rounded value is noticed
  return m;
}

Evaluation MakeOk(double small_ns, double large_ns) {
  Evaluation e;
  e.outcome = Outcome::kOk;
  e.stage = Stage::kTime;
  e.cases = {MakeCase("small", small_ns), MakeCase("large", large_ns)};
  e.score_ns = Score(e.cases);
  e.facts = {32, 1024, 0, 0, -1, 0.75};
  e.clocks = {120.5, 0.25, 30, 45, 10, 5};
  e.reverification_runs = 24;
  e.device = "cuda";
  e.device_name = "NVIDIA H200";
  e.l2 = "hot";
  e.image_digest = "0f0f";
  return e;
}

Evaluation MakeBad(Outcome outcome, Stage stage, const std::string& message, const std::string& log) {
  Evaluation e;
  e.outcome = outcome;
  e.stage = stage;
  e.message = message;
  e.log = log;
  e.clocks.compile_ms = 80;
  e.device = "cuda";
  e.device_name = "NVIDIA H200";
  e.l2 = "hot";
  return e;
}

Candidate MakeCandidate(CandidateId id, int generation, int index, Genome genome, std::vector<CandidateId> parents,
                        const std::string& op) {
  Candidate candidate;
  candidate.id = id;
  candidate.generation = generation;
  candidate.index = index;
  candidate.genome = std::move(genome);
  candidate.parents = std::move(parents);
  candidate.op = op;
  return candidate;
}

}  // namespace

RunRecord FixtureRun() {
  RunRecord run;
  run.task = "scale";
  run.task_directory = "/tasks/scale";
  run.task_digest = "ab12";
  run.templates = {{"scale", Digest(kTemplateText), kTemplateText}};
  run.baseline = "scale";
  run.device = "cuda";
  run.device_name = "NVIDIA H200";
  run.arch = "sm_90a";
  run.l2 = "hot";
  run.arithmetic = "f16";
  run.population_kind = "elitist";
  run.seed = 0xfedcba9876543210U;  // more than a signed integer holds
  run.generations = 3;
  run.population = 4;
  run.children = 3;
  run.operators = {{"set_parameter", 1.0}, {"unroll", 1.0 / 3}};
  run.options = R"({"time_limit":"10m"})";
  run.tool_version = "0.1.0";
  return run;
}

std::vector<GenerationRecord> FixtureGenerations() {
  const Edit fast = SourceEdit("use_fmaf", "if (i < n) y[i] = x[i] + x[i];");
  const Edit wrong = SourceEdit("delete_statement", "");
  std::vector<GenerationRecord> g(3);
  g[0].candidates = {MakeCandidate(1, 0, 0, MakeGenome(64, {}), {}, "default"),
                     MakeCandidate(2, 0, 1, MakeGenome(128, {}), {1}, "set_parameter")};
  g[0].evaluations = {MakeOk(2000, 4000), MakeOk(1800, 3900)};
  g[1].candidates = {MakeCandidate(3, 1, 0, MakeGenome(128, {fast}), {2}, "use_fmaf"),
                     MakeCandidate(4, 1, 1, MakeGenome(64, {fast}), {2, 1}, "crossover"),
                     MakeCandidate(5, 1, 2, MakeGenome(128, {wrong}), {2}, "delete_statement")};
  g[1].candidates[1].dropped = {"use_fmaf: anchor 0 is ambiguous"};
  g[1].evaluations = {MakeOk(1500.25, 3300),
                      MakeBad(Outcome::kCompileError, Stage::kCompile, "scale.cu(7): error: expected a \";\"",
                              "scale.cu(7): error: expected a \";\"\n1 error detected\n"),
                      MakeBad(Outcome::kWrongResult, Stage::kCheck, "case small: y is NaN at 0", "")};
  g[1].duplicates = 2;
  g[1].inapplicable = {{"unroll", 3}};
  g[2].candidates = {MakeCandidate(6, 2, 0, MakeGenome(256, {fast}), {3}, "set_parameter"),
                     MakeCandidate(7, 2, 1, MakeGenome(256, {fast, wrong}), {3}, "delete_statement")};
  g[2].evaluations = {MakeOk(1250, 2900), MakeOk(1200, 2800)};
  for (int i = 0; i < 3; ++i) g[static_cast<std::size_t>(i)].generation = i;
  return g;
}

ChampionCheck PassedCheck() {
  ChampionCheck check;
  check.outcome = Outcome::kOk;
  check.candidate = {MakeCase("small", 1260), MakeCase("large", 2910)};
  check.baseline = {MakeCase("small", 2010), MakeCase("large", 4020)};
  check.candidate_ns = Score(check.candidate);
  check.baseline_ns = Score(check.baseline);
  check.speedup = check.baseline_ns / check.candidate_ns;
  check.held_out_cases = {"ragged", "huge"};
  check.slowest = {1.1, "case large, generator 1"};
  check.fresh_ratio = 1.01;
  check.reference = "model.py";
  check.reference_ms = 0.25;
  check.took = "inputs 1.5 s, search 20.0 s";
  return check;
}

ChampionCheck FailedCheck() {
  ChampionCheck check;
  check.outcome = Outcome::kWrongResult;
  check.message = "held-out case ragged: y is wrong at 1000";
  check.held_out_cases = {"ragged"};
  return check;
}

RunId WriteFixture(const std::filesystem::path& database, const RunRecord& record) {
  SqliteStore store(database.string());
  const RunId run = store.BeginRun(record);
  for (const GenerationRecord& generation : FixtureGenerations()) store.RecordGeneration(run, generation);
  store.RecordChampion(run, 6, PassedCheck());
  store.RecordChampion(run, 7, FailedCheck());
  store.EndRun(run, RunStatus::kFinished, "");
  SQLite::Database db(database.string(), SQLite::OPEN_READWRITE);
  db.exec("UPDATE run SET started_at = '2026-01-02T03:04:05Z', ended_at = '2026-01-02T03:14:05Z'");
  return run;
}

void AddMinimised(const std::filesystem::path& database, RunId run) {
  const Genome champion = FixtureGenerations()[2].candidates[1].genome;
  Genome shorter = champion;
  shorter.edits.pop_back();
  Genome other = champion;
  other.edits.erase(other.edits.begin());
  GenerationRecord trials;
  trials.generation = 3;
  trials.candidates = {MakeCandidate(8, 3, 0, MakeGenome(256, {}), {7}, "minimise"),
                       MakeCandidate(9, 3, 1, other, {7}, "minimise"), MakeCandidate(10, 3, 2, shorter, {7}, "minimise")};
  trials.evaluations = {MakeOk(1804.5, 4210.5), MakeBad(Outcome::kWrongResult, Stage::kCheck, "case small: y is NaN at 0", ""),
                        MakeOk(1203, 2807)};
  SqliteStore store(database.string());
  store.RecordChampion(run, 7, PassedCheck());
  store.RecordGeneration(run, trials);
  store.RecordChampion(run, 10, PassedCheck());
  store.RecordMinimised(run, 7, 10, {8});
  store.EndRun(run, RunStatus::kFinished, "");
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "evo_test_XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace evo::testing
