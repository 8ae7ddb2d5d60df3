#include "bench/history/made_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "core/digest.h"

namespace evo {
namespace {

constexpr std::size_t kPopulation = 32;
constexpr std::size_t kRemembered = 400;
constexpr std::array kOperators{"unroll_pragma",  "vector_load_shared", "loop_interchange", "split_sum",      "hoist_invariant",
                                "register_tile",  "stage_in_shared",    "fast_math",        "restrict_const", "launch_bounds",
                                "fuse_loops",     "peel_loop",          "strip_mine",       "warp_reduce",    "coalesce_store",
                                "statement_swap", "constant_perturb",   "operand_swap",     "cache_hint",     "double_buffer"};
constexpr std::array kParameters{"BLOCK_M", "BLOCK_N", "BLOCK_K", "WARPS", "STAGES", "UNROLL"};
constexpr std::array kWords{"acc", "tile", "row", "col", "k", "warp", "lane", "smem", "sum", "scale", "offset", "stride"};

// Each parameter can have any value that a search gives it here.
std::string MadeText() {
  std::string text;
  for (const char* name : kParameters)
    text += fmt::format("#ifndef {0}\n#define {0} 64\n#endif\n// evo:param {0} 1 2 4 8 16 32 64 128\n", name);
  return text +
         "// evo:launch made(x, y, n) grid(ceil_div(n, BLOCK_M)) block(BLOCK_M)\n"
         "extern \"C\" __global__ void made(const float* x, float* y, int n) {\n"
         "  const int i = blockIdx.x * BLOCK_M + threadIdx.x;\n  if (i < n) y[i] = x[i];\n}\n";
}

template <typename List>
const auto& Pick(Rng& rng, const List& list) {
  return list[static_cast<std::size_t>(rng.Below(list.size()))];
}

std::string AnyDigest(Rng& rng) { return Digest(std::to_string(rng.Next())); }

}  // namespace

MadeSearch::MadeSearch(std::uint64_t seed, int children) : rng_(seed), children_(children) {}

RunRecord MadeSearch::Run() const {
  RunRecord run;
  run.task = "made";
  run.task_directory = "/tasks/made";
  run.task_digest = Digest("made");
  run.templates = {{"made", Digest(MadeText()), MadeText()}};
  run.baseline = "made";
  run.device = "cuda";
  run.device_name = "NVIDIA H200";
  run.arch = "sm_90a";
  run.l2 = "hot";
  run.arithmetic = "f16";
  run.population_kind = "elitist";
  run.seed = 1;
  run.generations = 1'000'000;
  run.population = static_cast<int>(kPopulation);
  run.children = children_;
  for (const char* name : kOperators) run.operators[name] = 1;
  run.options = R"({"operators":"adaptive","evaluations":0,"ordinals":[0]})";
  run.tool_version = "made";
  return run;
}

Edit MadeSearch::NewEdit() {
  if (edits_.size() > 8 && rng_.Chance(0.4)) return Pick(rng_, edits_);
  Edit edit;
  edit.op = Pick(rng_, kOperators);
  const std::size_t anchors = 1 + rng_.Below(2);
  for (std::size_t i = 0; i < anchors; ++i) {
    edit.anchors.push_back({"made",
                            rng_.Chance(0.5) ? "ForStmt" : "DeclStmt",
                            AnyDigest(rng_),
                            static_cast<int>(rng_.Below(3)),
                            AnyDigest(rng_),
                            AnyDigest(rng_),
                            AnyDigest(rng_),
                            {0, static_cast<int>(rng_.Below(9)), 1}});
  }
  std::string text;
  for (std::uint64_t i = 0, words = 4 + rng_.Below(20); i < words; ++i) text += fmt::format("{} += ", Pick(rng_, kWords));
  edit.source.push_back({0, Placement::kReplace, text + "x[i];"});
  edits_.push_back(edit);
  if (edits_.size() > kRemembered) edits_.pop_front();
  return edit;
}

Genome MadeSearch::Child(std::string& op, std::vector<CandidateId>& parents) {
  const Member& parent = Pick(rng_, population_);
  parents = {parent.id};
  Genome genome = parent.genome;
  if (rng_.Chance(0.4)) {
    op = "set_parameter";
    genome.parameters[Pick(rng_, kParameters)] = std::int64_t{1} << rng_.Below(8);
    return genome;
  }
  if (rng_.Chance(0.15)) {
    op = "crossover";
    const Member& other = Pick(rng_, population_);
    parents.push_back(other.id);
    if (!other.genome.edits.empty()) genome.edits.push_back(Pick(rng_, other.genome.edits));
  } else {
    genome.edits.push_back(NewEdit());
    op = genome.edits.back().op;
  }
  if (genome.edits.size() > 6) genome.edits.erase(genome.edits.begin());
  return genome;
}

Evaluation MadeSearch::Failed() {
  Evaluation e;
  if (rng_.Chance(0.35)) {
    e.outcome = Outcome::kCompileError;
    e.stage = Stage::kCompile;
    e.message = fmt::format("made.cu({}): error: identifier \"{}\" is undefined", 20 + rng_.Below(120), Pick(rng_, kWords));
    for (std::uint64_t i = 0, lines = 1 + rng_.Below(3); i < lines; ++i)
      e.log += e.message + "\n    y[i] = acc[i] * scale;\n           ^\n";
    e.log += "1 error detected in the compilation of \"made.cu\".\n";
    return e;
  }
  e.outcome = Outcome::kWrongResult;
  e.stage = Stage::kCheck;
  const auto index = rng_.Below(1'000'000);
  e.message = fmt::format("case small, generator {}: y is {:.6g} at {}, should be {:.6g}", rng_.Below(6), rng_.Uniform(),
                          index - index % 1000, 0.5);
  e.counterexample = {"small", static_cast<int>(rng_.Below(6)), rng_.Next(), ""};
  return e;
}

Evaluation MadeSearch::Timed() {
  Evaluation e;
  e.outcome = Outcome::kOk;
  e.stage = Stage::kTime;
  CaseMeasurement m;
  m.name = "b1_h8_s512";
  // The best gets better ever more slowly.
  m.median_ns = best_ns_ * (rng_.Chance(0.002) ? 0.97 + 0.03 * rng_.Uniform() : 1 + 4 * rng_.Uniform());
  m.p10_ns = m.median_ns * 0.993;
  m.p90_ns = m.median_ns * 1.011;
  m.busy_ns = m.median_ns - 900;
  m.tick_ns = 32;
  m.pruned = rng_.Chance(0.6);
  const std::uint64_t samples = m.pruned ? 2 + rng_.Below(4) : rng_.Chance(0.25) ? 100 + rng_.Below(200) : 8 + rng_.Below(32);
  for (std::uint64_t i = 0; i < samples; ++i)
    m.samples.push_back(static_cast<std::uint32_t>(m.median_ns / 32 * (1 + 0.02 * rng_.Uniform())));
  m.sm_low_mhz = m.sm_high_mhz = 1980;
  m.launches = fmt::format("made<{}> grid {}x8x1 block {}x1x1 shared {}", 16 << rng_.Below(4), 4 << rng_.Below(4),
                           32 << rng_.Below(5), 1024 * rng_.Below(48));
  m.bytes = 2097152;
  m.operations = 537001984;
  m.max_error = 1e-4 * rng_.Uniform();
  m.l2_error = 1e-5 * rng_.Uniform();
  e.cases = {m};
  e.score_ns = Score(e.cases);
  e.facts = {
      static_cast<int>(32 + rng_.Below(200)),        static_cast<int>(1024 * rng_.Below(48)), 0, rng_.Chance(0.1) ? 64 : 0, 0,
      0.125 * static_cast<double>(1 + rng_.Below(8))};
  e.clocks = {80 + 100 * rng_.Uniform(), 0.4 * rng_.Uniform(), 4 * rng_.Uniform(), 30 * rng_.Uniform(), 0, 50 * rng_.Uniform()};
  return e;
}

Evaluation MadeSearch::Evaluate(const Genome& genome) {
  Evaluation e = last_ == 0 || rng_.Chance(0.55) ? Timed() : Failed();
  e.device = "cuda";
  e.device_name = "NVIDIA H200";
  e.l2 = "hot";
  if (e.outcome != Outcome::kOk) e.clocks.compile_ms = 80 + 100 * rng_.Uniform();
  e.source_digest = GenomeHash(genome);
  if (e.outcome != Outcome::kCompileError) e.image_digest = e.program_digest = AnyDigest(rng_);
  return e;
}

GenerationRecord MadeSearch::Next() {
  GenerationRecord record;
  record.generation = generation_++;
  const int count = record.generation == 0 ? 1 : children_;
  for (int i = 0; i < count; ++i) {
    Candidate candidate;
    candidate.generation = record.generation;
    candidate.index = i;
    candidate.op = "default";
    if (record.generation == 0) {
      candidate.genome = {"made", Digest(MadeText()), {}, {}};
      for (const char* name : kParameters) candidate.genome.parameters[name] = 64;
    } else {
      candidate.genome = Child(candidate.op, candidate.parents);
    }
    record.evaluations.push_back(Evaluate(candidate.genome));
    candidate.id = ++last_;
    const Evaluation& evaluation = record.evaluations.back();
    if (evaluation.score_ns < best_ns_ || best_ == 0) {
      best_ns_ = evaluation.score_ns;
      best_ = candidate.id;
    }
    record.candidates.push_back(std::move(candidate));
  }
  for (std::size_t i = 0; i < record.candidates.size(); ++i) {
    const Evaluation& evaluation = record.evaluations[i];
    if (evaluation.outcome == Outcome::kOk)
      population_.push_back({record.candidates[i].id, record.candidates[i].genome, evaluation.score_ns});
  }
  std::stable_sort(population_.begin(), population_.end(), [](const Member& a, const Member& b) { return a.ns < b.ns; });
  if (population_.size() > kPopulation) population_.resize(kPopulation);
  record.duplicates = static_cast<int>(rng_.Below(5));
  for (int i = 0; i < 6; ++i) record.inapplicable[Pick(rng_, kOperators)] = static_cast<int>(1 + rng_.Below(4));
  return record;
}

std::pair<CandidateId, ChampionCheck> MadeSearch::Champion() {
  ChampionCheck check;
  check.outcome = Outcome::kOk;
  check.candidate = Timed().cases;
  check.baseline = Timed().cases;
  check.candidate_ns = best_ns_;
  check.baseline_ns = 2.0e6;
  check.speedup = check.baseline_ns / check.candidate_ns;
  check.held_out_cases = {"ragged", "huge"};
  check.tools = {{"memcheck", "clean", ""}, {"racecheck", "clean", ""}};
  return {best_, check};
}

}  // namespace evo
