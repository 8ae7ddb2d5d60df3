// The search for counter-examples alone, without the standard battery: it finds wrong functions of rows and spares honest ones.
#include "evaluator/adversary/adversary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "evaluator/gate/input_generator.h"
#include "tests/evaluator/row_functions.h"

namespace evo {
namespace {

using rows::Row;

constexpr int kMostInputs = 2000;
constexpr std::uint64_t kSeeds = 10;
constexpr std::uint64_t kSeedsOfHonest = 3;
constexpr double kEps = 1e-5;

// Inputs that are changed: X of ROWS rows, and what `extra` lists.
Task RowTask(const std::string& extra, const std::string& check) {
  const std::string sizes = R"json("sizes": {"ROWS": 5, "COLS": 131})json";
  const std::string head = R"json({"name": "rows", "summary": "a function of rows", "sizes": ["ROWS", "COLS"], "arguments": [
      {"name": "X", "role": "in", "dtype": "f32", "shape": ["ROWS", "COLS"], "generators": ["normal", "uniform(-1,1)"]},)json";
  const std::string output = R"json({"name": "Y", "role": "out", "dtype": "f32", "shape": ["ROWS", "COLS"], "check": )json";
  return ParseTask(head + extra + output + check + R"json(}], "cases": {"small": {"name": "small", )json" + sizes +
                       R"json(}, "search": [{"name": "a", )json" + sizes + R"json(}], "search_cpu": [{"name": "b", )json" +
                       sizes + R"json(}], "held_out": [{"name": "c", )json" + sizes +
                       R"json(}], "held_out_cpu": [{"name": "d", )json" + sizes +
                       R"json(}]}, "baseline": "k", "bytes": "8 * ROWS * COLS", "operations": "COLS"})json",
                   "// evo:launch k(X, Y) grid(1) block(1)\n", "rows");
}

constexpr const char* kSoftmaxCheck = R"json({"sum": "COLS", "ulps": 64, "peak": "sqrt(COLS)"})json";
constexpr const char* kSumCheck = R"json({"l2": 1e-5, "max": 5e-5})json";
constexpr const char* kLayerNormCheck = R"json({"l2": 1e-4, "max": 1e-2})json";
constexpr const char* kGammaAndBeta = R"json(
      {"name": "gamma", "role": "in", "dtype": "f32", "shape": ["COLS"], "generators": ["normal(1,0.2)"]},
      {"name": "beta", "role": "in", "dtype": "f32", "shape": ["COLS"], "generators": ["normal(0,0.2)"]},)json";

// A row of X, the other inputs, and the row of the output.
template <typename T>
using Function = std::function<void(Row<T>, const rows::Inputs<T>&, std::span<T>)>;

struct Problem {
  Task task;
  Function<double> reference;
  Function<float> baseline;
};

template <typename T>
std::vector<double> Evaluated(const Function<T>& function, const std::vector<std::vector<double>>& inputs, std::size_t columns) {
  rows::Inputs<T> typed;
  for (const auto& input : inputs) typed.emplace_back(input.begin(), input.end());
  std::vector<T> result(inputs.front().size());
  for (std::size_t begin = 0; begin < result.size(); begin += columns)
    function(Row<T>(typed.front()).subspan(begin, columns), typed, std::span<T>(result).subspan(begin, columns));
  return {result.begin(), result.end()};
}

struct Error {
  double l2 = 0;
  double max = 0;
  bool finite = true;
};

// Elements whose reference is not finite have no error.
Error ErrorOf(const std::vector<double>& output, const std::vector<double>& reference) {
  Error error;
  for (std::size_t i = 0; i < output.size(); ++i) {
    if (!std::isfinite(reference[i])) continue;
    error.finite = error.finite && std::isfinite(output[i]);
    error.l2 += (output[i] - reference[i]) * (output[i] - reference[i]);
    error.max = std::max(error.max, std::abs(output[i] - reference[i]));
  }
  error.l2 = std::sqrt(error.l2 / static_cast<double>(output.size()));
  return error;
}

// The root mean square; elements that are not finite count as zero.
double Rms(const std::vector<double>& values) {
  double squares = 0;
  for (const double v : values) squares += std::isfinite(v) ? v * v : 0;
  return std::sqrt(squares / static_cast<double>(values.size()));
}

// An input on which rounding errors do not average out may have this many times the task's bound, which is meant for random
// ones: a sum of n terms that all round the same way is off by n units instead of sqrt(n).
constexpr double kHardInputs = 16;
// How many times the baseline's own error, and the change that follows from one rounding of the inputs.
constexpr double kOfBaseline = 10;
// The order of a sum decides whether it overflows: a candidate may overflow where the baseline has less than this to spare.
constexpr double kHeadroom = 16;
// An input whose answer changes by this share if the input is rounded once says nothing about a candidate.
constexpr double kIllConditioned = 0.1;

double OverBound(double error, double bound, double of_baseline, double of_rounding) {
  const double acceptable = std::max({kHardInputs * bound, kOfBaseline * of_baseline, kOfBaseline * of_rounding});
  if (error == 0) return 0;
  return acceptable > 0 ? error / acceptable : std::numeric_limits<double>::infinity();
}

using Values = std::vector<std::vector<double>>;

Values Changed(Values inputs, const std::function<double(double)>& change) {
  for (std::vector<double>& input : inputs)
    for (double& value : input) value = change(value);
  return inputs;
}

InputProbe ProbeOf(const Problem& problem, const Function<float>& candidate) {
  const Variables variables = CaseVariables(problem.task, problem.task.small);
  const OutputCheck check = CheckFor(problem.task.arguments.back(), variables);
  const auto columns = static_cast<std::size_t>(variables.at("COLS").integer);
  return [=, &problem](const InputProgram& program) -> ProbeAnswer {
    const DrawnArguments drawn = DrawArguments(problem.task, problem.task.small, program);
    Values inputs;
    for (std::size_t i = 0; i + 1 < drawn.size(); ++i) inputs.push_back(ToDoubles(drawn[i], Dtype::kF32));
    const std::vector<double> reference = Evaluated(problem.reference, inputs, columns);
    const Error trusted = ErrorOf(Evaluated(problem.baseline, inputs, columns), reference);
    if (!trusted.finite) return IllegalInput{};
    const Error error = ErrorOf(Evaluated(candidate, inputs, columns), reference);
    if (!error.finite) {
      const Values larger = Changed(inputs, [](double v) { return v * kHeadroom; });
      const Error spare = ErrorOf(Evaluated(problem.baseline, larger, columns), Evaluated(problem.reference, larger, columns));
      if (!spare.finite) return IllegalInput{};
      return Failure{Outcome::kWrongResult, "not finite"};
    }
    const Values magnitudes = Changed(inputs, [](double v) { return std::abs(v); });
    const double scale = std::max(Rms(reference), Rms(Evaluated(problem.reference, magnitudes, columns)));
    Rng signs(program.seed);
    const Values rounded = Changed(inputs, [&](double v) { return v * (1 + (signs.Chance(0.5) ? 0x1p-24 : -0x1p-24)); });
    const Error rounding = ErrorOf(Evaluated(problem.reference, rounded, columns), reference);
    if (rounding.l2 > kIllConditioned * scale) return IllegalInput{};
    return std::max(OverBound(error.l2, check.l2 * scale, trusted.l2, rounding.l2),
                    OverBound(error.max, check.max * scale, trusted.max, rounding.max));
  };
}

// ---- the three problems ----

template <typename T>
Function<T> SoftmaxOf(void (*softmax)(Row<T>, std::span<T>)) {
  return [=](Row<T> x, const rows::Inputs<T>&, std::span<T> y) { softmax(x, y); };
}
Problem SoftmaxProblem() {
  return {RowTask("", kSoftmaxCheck), SoftmaxOf<double>(rows::TwoPassSoftmax<double>),
          SoftmaxOf<float>(rows::TwoPassSoftmax<float>)};
}

// Every element of the row is the sum.
template <typename T>
Function<T> SumOf(T (*sum)(Row<T>)) {
  return [=](Row<T> x, const rows::Inputs<T>&, std::span<T> y) { std::ranges::fill(y, sum(x)); };
}
Problem SumProblem() { return {RowTask("", kSumCheck), SumOf<double>(rows::Sum<double>), SumOf<float>(rows::Sum<float>)}; }

template <typename T>
Function<T> LayerNormOf(const std::function<rows::Moments<T>(Row<T>)>& moments, T eps = static_cast<T>(kEps)) {
  return [=](Row<T> x, const rows::Inputs<T>& all, std::span<T> y) { rows::Normalise<T>(moments(x), eps, x, all[1], all[2], y); };
}
Problem LayerNormProblem() {
  return {RowTask(kGammaAndBeta, kLayerNormCheck), LayerNormOf<double>(rows::TwoPassMoments<double>),
          LayerNormOf<float>(rows::TwoPassMoments<float>)};
}

// ---- what is expected ----

void ExpectFound(const Problem& problem, const std::string& name, const Function<float>& candidate) {
  int most = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Adversary adversary(problem.task, problem.task.small, seed);
    const AdversaryReport report = adversary.Run(ProbeOf(problem, candidate), kMostInputs, [] { return false; });
    EXPECT_TRUE(report.failing) << name << ", seed " << seed << ", worst " << report.worst << " on "
                                << ToText(report.worst_input);
    most = std::max(most, report.inputs);
    if (!report.failing) continue;
    // What it reports fails again.
    const ProbeAnswer again = ProbeOf(problem, candidate)(report.failing->program);
    EXPECT_TRUE(std::holds_alternative<Failure>(again) || std::get<double>(again) >= 1) << name;
    if (seed == 1) ::testing::Test::RecordProperty(name, Describe(report.failing->program, problem.task, problem.task.small));
  }
  ::testing::Test::RecordProperty(name + "_inputs", most);
}

void ExpectNeverFound(const Problem& problem, const std::string& name, const Function<float>& candidate) {
  for (std::uint64_t seed = 1; seed <= kSeedsOfHonest; ++seed) {
    Adversary adversary(problem.task, problem.task.small, seed);
    const AdversaryReport report = adversary.Run(ProbeOf(problem, candidate), kMostInputs, [] { return false; });
    EXPECT_FALSE(report.failing) << name << ", seed " << seed << ": " << report.failing->failure.message << " on "
                                 << ToText(report.failing->program);
    EXPECT_EQ(report.inputs, report.failing ? report.inputs : kMostInputs);
    EXPECT_LT(report.illegal, kMostInputs / 2) << name << ": most inputs should say something";
    ::testing::Test::RecordProperty(name + "_worst", std::to_string(report.worst) + " on " + ToText(report.worst_input));
  }
}

TEST(AdversaryAlone, FindsEachWrongSoftmax) {
  const Problem problem = SoftmaxProblem();
  ExpectFound(problem, "without_maximum", SoftmaxOf<float>(rows::SoftmaxWithoutMaximum));
  ExpectFound(problem, "maximum_from_first", SoftmaxOf<float>(rows::SoftmaxFromFirst));
  ExpectFound(problem, "maximum_from_zero", SoftmaxOf<float>(rows::SoftmaxFromZero));
  ExpectFound(problem, "maximum_of_sample", SoftmaxOf<float>(rows::SoftmaxOfSample));
  ExpectFound(problem, "maximum_of_first_block", SoftmaxOf<float>(rows::SoftmaxOfFirstBlock));
  ExpectFound(problem, "without_small_terms", SoftmaxOf<float>(rows::SoftmaxWithoutSmallTerms));
}

TEST(AdversaryAlone, SparesHonestSoftmaxes) {
  const Problem problem = SoftmaxProblem();
  ExpectNeverFound(problem, "two_pass", SoftmaxOf<float>(rows::TwoPassSoftmax<float>));
  ExpectNeverFound(problem, "online", SoftmaxOf<float>(rows::OnlineSoftmax));
  ExpectNeverFound(problem, "fast_exp", SoftmaxOf<float>(rows::FastSoftmax));
}

TEST(AdversaryAlone, FindsEachWrongSum) {
  const Problem problem = SumProblem();
  ExpectFound(problem, "half_sum", SumOf<float>(rows::HalfSum));
  ExpectFound(problem, "without_tail", SumOf<float>(rows::SumWithoutTail));
  ExpectFound(problem, "of_large_terms", SumOf<float>(rows::SumOfLargeTerms));
}

TEST(AdversaryAlone, SparesHonestSums) {
  const Problem problem = SumProblem();
  ExpectNeverFound(problem, "tree", SumOf<float>(rows::TreeSum));
  ExpectNeverFound(problem, "interleaved", SumOf<float>(rows::InterleavedSum));
  ExpectNeverFound(problem, "reversed", SumOf<float>(rows::ReversedSum));
}

TEST(AdversaryAlone, FindsEachWrongLayerNorm) {
  const Problem problem = LayerNormProblem();
  ExpectFound(problem, "squares_minus_mean", LayerNormOf<float>([](Row<float> x) { return rows::ShiftedMoments(x, 0); }));
  ExpectFound(problem, "shifted_by_first", LayerNormOf<float>([](Row<float> x) { return rows::ShiftedMoments(x, x.front()); }));
  ExpectFound(problem, "without_eps", LayerNormOf<float>(rows::TwoPassMoments<float>, 0));
  ExpectFound(problem, "large_eps", LayerNormOf<float>(rows::TwoPassMoments<float>, 1e-4F));
}

TEST(AdversaryAlone, SparesHonestLayerNorms) {
  const Problem problem = LayerNormProblem();
  ExpectNeverFound(problem, "tree", LayerNormOf<float>(rows::TreeMoments));
  ExpectNeverFound(problem, "welford", LayerNormOf<float>(rows::WelfordMoments));
}

}  // namespace
}  // namespace evo
