#pragma once

// Softmax, layer norm and sums of rows as problems: a task, the truth, a baseline, and a probe of candidates that applies the
// rule for hard inputs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "evaluator/adversary/adversary.h"
#include "evaluator/gate/input_generator.h"
#include "tests/evaluator/row_functions.h"

namespace evo {

using rows::Row;

inline constexpr double kEps = 1e-5;  // of the layer norm

// Inputs that are changed: X of ROWS rows, and what `extra` lists.
inline Task RowTask(const std::string& extra, const std::string& check, int columns = 131) {
  const std::string sizes = fmt::format(R"json("sizes": {{"ROWS": 5, "COLS": {}}})json", columns);
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

inline constexpr const char* kSoftmaxCheck = R"json({"sum": "COLS", "ulps": 64, "peak": "sqrt(COLS)"})json";
inline constexpr const char* kSumCheck = R"json({"l2": 1e-5, "max": 5e-5})json";
inline constexpr const char* kLayerNormCheck = R"json({"l2": 1e-4, "max": 1e-2})json";
inline constexpr const char* kGammaAndBeta = R"json(
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
inline Error ErrorOf(const std::vector<double>& output, const std::vector<double>& reference) {
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
inline double Rms(const std::vector<double>& values) {
  double squares = 0;
  for (const double v : values) squares += std::isfinite(v) ? v * v : 0;
  return std::sqrt(squares / static_cast<double>(values.size()));
}

// An input on which rounding errors do not average out may have this many times the task's bound, which is meant for random
// ones: a sum of n terms that all round the same way is off by n units instead of sqrt(n).
inline constexpr double kHardInputs = 16;
// How many times the baseline's own error, and the change that follows from one rounding of the inputs.
inline constexpr double kOfBaseline = 10;
// The order of a sum decides whether it overflows: a candidate may overflow where the baseline has less than this to spare.
inline constexpr double kHeadroom = 16;
// An input says nothing about a candidate if the baseline is off by this share of the answer, or if the answer changes by this
// share once the input is rounded.
inline constexpr double kUseless = 0.1;

inline double OverBound(double error, double bound, double of_baseline, double of_rounding) {
  const double acceptable = std::max({kHardInputs * bound, kOfBaseline * of_baseline, kOfBaseline * of_rounding});
  if (error == 0) return 0;
  return acceptable > 0 ? error / acceptable : std::numeric_limits<double>::infinity();
}

using Values = std::vector<std::vector<double>>;

inline Values Changed(Values inputs, const std::function<double(double)>& change) {
  for (std::vector<double>& input : inputs)
    for (double& value : input) value = change(value);
  return inputs;
}

inline InputProbe ProbeOf(const Problem& problem, const Function<float>& candidate) {
  const Variables variables = CaseVariables(problem.task, problem.task.small);
  const OutputCheck check = CheckFor(problem.task.arguments.back(), variables);
  const auto columns = static_cast<std::size_t>(variables.at("COLS").integer);
  return [=, &problem](const InputProgram& program) -> ProbeAnswer {
    const DrawnArguments drawn = DrawArguments(problem.task, problem.task.small, program);
    Values inputs;
    for (std::size_t i = 0; i + 1 < drawn.size(); ++i) inputs.push_back(ToDoubles(drawn[i], Dtype::kF32));
    const std::vector<double> reference = Evaluated(problem.reference, inputs, columns);
    const Error trusted = ErrorOf(Evaluated(problem.baseline, inputs, columns), reference);
    const Values magnitudes = Changed(inputs, [](double v) { return std::abs(v); });
    const double scale = std::max(Rms(reference), Rms(Evaluated(problem.reference, magnitudes, columns)));
    if (!trusted.finite || trusted.l2 > kUseless * scale) return IllegalInput{};
    const Error error = ErrorOf(Evaluated(candidate, inputs, columns), reference);
    if (!error.finite) {
      const Values larger = Changed(inputs, [](double v) { return v * kHeadroom; });
      const Error spare = ErrorOf(Evaluated(problem.baseline, larger, columns), Evaluated(problem.reference, larger, columns));
      if (!spare.finite) return IllegalInput{};
      return Failure{Outcome::kWrongResult, "not finite"};
    }
    Rng signs(program.seed);
    const Values rounded = Changed(inputs, [&](double v) { return v * (1 + (signs.Chance(0.5) ? 0x1p-24 : -0x1p-24)); });
    const Error rounding = ErrorOf(Evaluated(problem.reference, rounded, columns), reference);
    if (rounding.l2 > kUseless * scale) return IllegalInput{};
    return std::max(OverBound(error.l2, check.l2 * scale, trusted.l2, rounding.l2),
                    OverBound(error.max, check.max * scale, trusted.max, rounding.max));
  };
}

// ---- the three problems ----

template <typename T>
Function<T> SoftmaxOf(void (*softmax)(Row<T>, std::span<T>)) {
  return [=](Row<T> x, const rows::Inputs<T>&, std::span<T> y) { softmax(x, y); };
}
inline Problem SoftmaxProblem() {
  return {RowTask("", kSoftmaxCheck), SoftmaxOf<double>(rows::TwoPassSoftmax<double>),
          SoftmaxOf<float>(rows::TwoPassSoftmax<float>)};
}

// Every element of the row is the sum.
template <typename T>
Function<T> SumOf(T (*sum)(Row<T>)) {
  return [=](Row<T> x, const rows::Inputs<T>&, std::span<T> y) { std::ranges::fill(y, sum(x)); };
}
inline Problem SumProblem() { return {RowTask("", kSumCheck), SumOf<double>(rows::Sum<double>), SumOf<float>(rows::Sum<float>)}; }

template <typename T>
Function<T> LayerNormOf(const std::function<rows::Moments<T>(Row<T>)>& moments, T eps = static_cast<T>(kEps)) {
  return [=](Row<T> x, const rows::Inputs<T>& all, std::span<T> y) { rows::Normalise<T>(moments(x), eps, x, all[1], all[2], y); };
}
inline Problem LayerNormProblem(int columns = 131) {
  return {RowTask(kGammaAndBeta, kLayerNormCheck, columns), LayerNormOf<double>(rows::TwoPassMoments<double>),
          LayerNormOf<float>(rows::TwoPassMoments<float>)};
}

}  // namespace evo
