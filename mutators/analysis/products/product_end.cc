#include "mutators/analysis/products/product_end.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace evo {
namespace {

using EndPlace = ProductEnd::Place;
using EndFunction = ProductEnd::Function;

constexpr std::array kEndPlaces{EndPlace::kColumn, EndPlace::kRow, EndPlace::kElement};
constexpr std::array kEndFunctions{EndFunction::kNone, EndFunction::kRelu, EndFunction::kSigmoid,   EndFunction::kSilu,
                                   EndFunction::kTanh, EndFunction::kGelu, EndFunction::kGeluByTanh};
// Numbers of such functions have seven digits.
constexpr double kToleranceOfFunctions = 2e-6, kToleranceOfSums = 1e-9;
constexpr double kRootOfTwoByPi = 0.7978845608028654, kCubic = 0.044715, kRootOfHalf = 0.7071067811865476;

double FunctionValue(EndFunction function, double leak, double x) {
  switch (function) {
    case EndFunction::kRelu:
      return x > 0 ? x : 0;
    case EndFunction::kLeaky:
      return x > 0 ? x : leak * x;
    case EndFunction::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case EndFunction::kSilu:
      return x / (1 + std::exp(-x));
    case EndFunction::kTanh:
      return std::tanh(x);
    case EndFunction::kGelu:
      return 0.5 * x * (1 + std::erf(x * kRootOfHalf));
    case EndFunction::kGeluByTanh:
      return 0.5 * x * (1 + std::tanh(kRootOfTwoByPi * (x + kCubic * x * x * x)));
    case EndFunction::kNone:
      break;
  }
  return x;
}

std::string FunctionText(EndFunction function, const std::string& slope, const std::string& x) {
  switch (function) {
    case EndFunction::kRelu:
      return fmt::format("fmaxf({}, 0.0f)", x);
    case EndFunction::kLeaky:
      return fmt::format("({0} > 0.0f ? {0} : {1} * ({0}))", x, slope);
    case EndFunction::kSigmoid:
      return fmt::format("1.0f / (1.0f + expf(-({})))", x);
    case EndFunction::kSilu:
      return fmt::format("({0}) / (1.0f + expf(-({0})))", x);
    case EndFunction::kTanh:
      return fmt::format("tanhf({})", x);
    case EndFunction::kGelu:
      return fmt::format("0.5f * ({0}) * (1.0f + erff(({0}) * 0.70710678f))", x);
    case EndFunction::kGeluByTanh:
      return fmt::format("0.5f * ({0}) * (1.0f + tanhf(0.79788456f * (({0}) + 0.044715f * ({0}) * ({0}) * ({0}))))", x);
    case EndFunction::kNone:
      break;
  }
  return x;
}

// With nothing, a bias, what was there before, a residual, and a bias besides.
std::vector<std::vector<ProductEnd::Term>> TermsOf(const std::map<std::string, double>& factors,
                                                   const std::vector<std::string>& buffers) {
  std::vector<std::vector<ProductEnd::Term>> all{{}};
  for (const std::string& buffer : buffers) {
    for (const EndPlace place : kEndPlaces) {
      all.push_back({{buffer, "", place, 1}});
      for (const auto& [text, value] : factors) all.push_back({{buffer, text, place, value}});
    }
  }
  const std::size_t single = all.size();
  for (std::size_t i = 1; i < single; ++i) {
    for (std::size_t j = 1; j < single; ++j) {
      const auto &element = all[i].front(), &line = all[j].front();
      if (element.place != EndPlace::kElement || line.place == EndPlace::kElement || element.buffer == line.buffer) continue;
      if (line.factor.empty()) all.push_back({element, line});
    }
  }
  return all;
}

}  // namespace

double ProductEnd::ValueOf(double sum, const At& at, const Elements& elements) const {
  double scale = times;
  for (const Term& term : scales) scale *= elements(term.buffer, at.Of(term.place));
  double value = outside ? sum : scale * sum;
  for (const Term& term : terms) value += term.times * elements(term.buffer, at.Of(term.place));
  return FunctionValue(function, leak, outside ? scale * value : value);
}

bool ProductEnd::Gives(double stored, double sum, const At& at, const Elements& elements) const {
  const double expected = ValueOf(sum, at, elements);
  const bool exact = function == EndFunction::kNone || function == EndFunction::kRelu || function == EndFunction::kLeaky;
  return std::abs(stored - expected) <= (exact ? kToleranceOfSums : kToleranceOfFunctions) * (1 + std::abs(expected));
}

std::string ProductEnd::Text(const std::string& sum, const std::map<std::string, std::string>& names, const std::string& row,
                             const std::string& column, const std::string& element) const {
  const auto of = [&](const Term& term) {
    const std::string& index = term.place == EndPlace::kColumn ? column : term.place == EndPlace::kRow ? row : element;
    return fmt::format("{}{}{}[{}]", term.factor, term.factor.empty() ? "" : " * ", names.at(term.buffer), index);
  };
  std::string scale = alpha.empty() ? "" : alpha + " * ", added;
  for (const Term& term : scales) scale += of(term) + " * ";
  for (const Term& term : terms) added += " + " + of(term);
  std::string value = outside && !terms.empty() && !scale.empty() ? fmt::format("{}({}{})", scale, sum, added)
                                                                  : fmt::format("{}{}{}", scale, sum, added);
  if (function == EndFunction::kRelu && keeps_nan) return fmt::format("({0} < 0.0f ? 0.0f : {0})", value);
  return FunctionText(function, slope, value);
}

std::vector<ProductEnd> ProductEnds(const std::map<std::string, double>& factors, const std::vector<std::string>& buffers) {
  std::vector<ProductEnd> all;
  std::map<std::string, double> alphas = factors;
  alphas[""] = 1;
  for (const auto& terms : TermsOf(factors, buffers)) {
    for (const auto& [alpha, times] : alphas) {
      for (const bool outside : {false, true}) {
        if (outside && (terms.empty() || alpha.empty())) continue;
        ProductEnd end;
        end.alpha = alpha, end.times = times, end.terms = terms, end.outside = outside;
        for (const EndFunction function : kEndFunctions) end.function = function, all.push_back(end);
        end.function = EndFunction::kLeaky;
        for (const auto& [slope, leak] : factors) end.slope = slope, end.leak = leak, all.push_back(end);
      }
    }
  }
  // Elements of bytes or the like in their own units: a scale for each row or column.
  for (const std::string& buffer : buffers) {
    for (const EndPlace place : {EndPlace::kColumn, EndPlace::kRow}) {
      ProductEnd end;
      end.scales = {{buffer, "", place, 1}};
      all.push_back(end);
      for (const std::string& bias : buffers) {
        end.terms = {{bias, "", EndPlace::kColumn, 1}};
        if (bias != buffer) all.push_back(end);
      }
    }
  }
  return all;
}

}  // namespace evo
