#include "mutators/analysis/rows/row_forms.h"

#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

enum class Needs : unsigned char { kNothing, kExponential, kLogarithm, kRoot };

struct KnownForm {
  const char* text;
  Needs needs = Needs::kNothing;
};

// Softmax and its logarithm, also causal; norms of layers and of roots of mean squares; others that divide by a sum or an
// extreme.
constexpr KnownForm kElementForms[] = {
    {"expf(X - largest) / weights", Needs::kExponential},
    {"expf(X) / powers", Needs::kExponential},
    {"X - largest - logf(weights)", Needs::kLogarithm},
    {"X - logf(powers)", Needs::kLogarithm},
    {"(X - mean) * rsqrtf(deviations / L + E)", Needs::kRoot},
    {"(X - mean) / (sqrtf(deviations / L) + E)", Needs::kRoot},
    {"(X - mean) * rsqrtf(deviations / L)", Needs::kRoot},
    {"(X - mean) * rsqrtf(deviations / (L - 1.0f) + E)", Needs::kRoot},
    {"(X - mean) / (sqrtf(deviations / (L - 1.0f)) + E)", Needs::kRoot},
    {"(X - mean) * rsqrtf(deviations / (L - 1.0f))", Needs::kRoot},
    {"X * rsqrtf(squares / L + E)", Needs::kRoot},
    {"X / (sqrtf(squares / L) + E)", Needs::kRoot},
    {"X * rsqrtf(squares / L)", Needs::kRoot},
    {"X * rsqrtf(squares + E)", Needs::kRoot},
    {"X / (sqrtf(squares) + E)", Needs::kRoot},
    {"X / fmaxf(sqrtf(squares), E)", Needs::kRoot},
    {"X / sqrtf(squares)", Needs::kRoot},
    {"X - mean"},
    {"X - largest"},
    {"X / total"},
    {"X / (total + E)"},
    {"X / absolute"},
    {"X / (absolute + E)"},
    {"X / fmaxf(absolute, E)"},
    {"X / largest"},
    {"X / magnitude"},
    {"X / (magnitude + E)"},
    {"X / mean"},
    {"(X - smallest) / (largest - smallest)"},
    {"(X - smallest) / (largest - smallest + E)"},
};
// What a norm stores beside it, if two matrices are added; gradients of a softmax and of its logarithm.
constexpr KnownForm kSecondElementForms[] = {
    {"X"}, {"A * (X - dots)"}, {"X * (A - dots)"}, {"X - expf(A) * total", Needs::kExponential}};

constexpr KnownForm kRowForms[] = {
    {"total"},
    {"mean"},
    {"largest"},
    {"smallest"},
    {"magnitude"},
    {"absolute"},
    {"squares"},
    {"squares / L"},
    {"sqrtf(squares)", Needs::kRoot},
    {"sqrtf(squares / L)", Needs::kRoot},
    {"largest + logf(weights)", Needs::kLogarithm},
    {"logf(powers)", Needs::kLogarithm},
    {"powers", Needs::kExponential},
    {"weights", Needs::kExponential},
    {"deviations / L"},
    {"deviations / (L - 1.0f)"},
    {"sqrtf(deviations / L)", Needs::kRoot},
    {"sqrtf(deviations / (L - 1.0f))", Needs::kRoot},
    {"sqrtf(deviations / L + E)", Needs::kRoot},
    {"rsqrtf(deviations / L + E)", Needs::kRoot},
    {"rsqrtf(deviations / L)", Needs::kRoot},
    {"rsqrtf(squares / L + E)", Needs::kRoot},
};
constexpr KnownForm kSecondRowForms[] = {
    {"dots"},
    {"distances"},
    {"distances / L"},
    {"sqrtf(distances)", Needs::kRoot},
    {"differences"},
    {"differences / L"},
    {"dots * rsqrtf(squares * second_squares)", Needs::kRoot},
    {"dots / (sqrtf(squares) * sqrtf(second_squares) + E)", Needs::kRoot},
    {"1.0f - dots * rsqrtf(squares * second_squares)", Needs::kRoot},
};
// Losses of a class, given logits or probabilities, also smoothed.
constexpr KnownForm kLabelForms[] = {
    {"largest + logf(weights) - chosen", Needs::kLogarithm},
    {"logf(powers) - chosen", Needs::kLogarithm},
    {"largest + logf(weights) - (1.0f - P) * chosen - P * mean", Needs::kLogarithm},
    {"-logf(expf(chosen - largest) / weights + E)", Needs::kLogarithm},
    {"-logf(fmaxf(expf(chosen - largest) / weights, E))", Needs::kLogarithm},
    {"-logf(chosen)", Needs::kLogarithm},
    {"-logf(chosen + E)", Needs::kLogarithm},
    {"-logf(fmaxf(chosen, E))", Needs::kLogarithm},
};

}  // namespace

const std::vector<RowStatistic>& RowStatistics() {
  static const std::vector<RowStatistic> statistics{
      {"largest", "float largest = -INFINITY;", "largest = fmaxf(largest, X);"},
      {"smallest", "float smallest = INFINITY;", "smallest = fminf(smallest, X);"},
      {"magnitude", "float magnitude = 0.0f;", "magnitude = fmaxf(magnitude, fabsf(X));"},
      {"total", "float total = 0.0f;", "total += X;"},
      {"absolute", "float absolute = 0.0f;", "absolute += fabsf(X);"},
      {"squares", "float squares = 0.0f;", "squares += X * X;"},
      {"mean", "const float mean = total / L;", ""},
      {"deviations", "float deviations = 0.0f;", "deviations += (X - mean) * (X - mean);"},
      {"weights", "float weights = 0.0f;", "weights += expf(X - largest);"},
      {"powers", "float powers = 0.0f;", "powers += expf(X);"},
      {"dots", "float dots = 0.0f;", "dots += X * A;"},
      {"second_squares", "float second_squares = 0.0f;", "second_squares += A * A;"},
      {"distances", "float distances = 0.0f;", "distances += (X - A) * (X - A);"},
      {"differences", "float differences = 0.0f;", "differences += fabsf(X - A);"},
  };
  return statistics;
}

std::vector<RowForm> RowFormsFor(const RowFormsWanted& wanted) {
  std::vector<RowForm> forms;
  const auto add = [&](const auto& known, bool of_element) {
    for (const KnownForm& form : known) {
      const bool may = form.needs == Needs::kNothing || (form.needs == Needs::kExponential && wanted.exponential) ||
                       (form.needs == Needs::kLogarithm && wanted.logarithm) || (form.needs == Needs::kRoot && wanted.root);
      if (may) forms.push_back({form.text, of_element});
    }
  };
  if (wanted.labels) return add(kLabelForms, false), forms;
  if (wanted.second) add(kSecondElementForms, true), add(kSecondRowForms, false);
  add(kElementForms, true);
  add(kRowForms, false);
  if (wanted.places) forms.push_back({"place", false});
  return forms;
}

}  // namespace evo
