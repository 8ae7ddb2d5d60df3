#include "mutators/analysis/convolutions/convolution_extents.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// How far a number may be from what a launch line says: an output is smaller by a filter less one.
constexpr std::int64_t kFarthestNumber = 16;

using NumbersOfTwo = std::array<std::int64_t, 2>;
struct SizeExpression {
  std::string text;
  NumbersOfTwo values;
};

std::optional<std::int64_t> ValueWith(const std::string& text, const Variables& values) {
  try {
    return Expression::Parse(text).EvaluateInteger(values);
  } catch (const Error&) {
    return std::nullopt;
  }
}

constexpr const char* kWhatNumbersAre[] = {"number of channels",
                                           "number of groups",
                                           "number of filters",
                                           "filters' depth",
                                           "filters' height",
                                           "filters' width",
                                           "stride",
                                           "stride",
                                           "stride",
                                           "dilation",
                                           "dilation",
                                           "dilation",
                                           "padding",
                                           "padding",
                                           "padding",
                                           "depth",
                                           "height",
                                           "width",
                                           "output's depth",
                                           "output's height",
                                           "output's width"};

// Looks for expressions with the values of two settings.
class SizeExpressions {
 public:
  SizeExpressions(const ConvolutionSearch& search, const std::array<LaunchRuns::Sizes, 2>& sizes,
                  const std::vector<std::string>& passed)
      : values_{search.ValuesOf(sizes[0]), search.ValuesOf(sizes[1])} {
    for (const std::string& name : search.names()) Add(name);
    for (const std::string& text : passed) Add(text);
  }

  // Where it is the sum or the like of other numbers, these are known.
  void Add(const std::string& text) {
    const auto one = ValueWith(text, values_[0]), other = ValueWith(text, values_[1]);
    const auto is_known = [&](const SizeExpression& known) { return known.text == text; };
    if (!one || !other || *one == *other || std::any_of(plain_.begin(), plain_.end(), is_known)) return;
    plain_.push_back({text, {*one, *other}});
  }

  std::optional<std::string> Of(const NumbersOfTwo& numbers) const {
    if (numbers[0] == numbers[1]) return std::to_string(numbers[0]);
    for (const SizeExpression& one : plain_) {
      if (one.values == numbers) return one.text;
    }
    for (std::int64_t away = 1; away <= kFarthestNumber; ++away) {
      for (const SizeExpression& one : plain_) {
        const std::string text = Parenthesised(one.text);
        if (one.values == NumbersOfTwo{numbers[0] + away, numbers[1] + away}) return fmt::format("({} - {})", text, away);
        if (one.values == NumbersOfTwo{numbers[0] - away, numbers[1] - away}) return fmt::format("({} + {})", text, away);
      }
    }
    for (const std::int64_t by : {2, 3, 4}) {
      for (const std::int64_t more : {0, -1, 1, -2, 2, -3, 3}) {
        for (const SizeExpression& one : plain_) {
          if (one.values[0] + more < 0 || one.values[1] + more < 0) continue;
          if (NumbersOfTwo{(one.values[0] + more) / by, (one.values[1] + more) / by} != numbers) continue;
          const std::string text = Parenthesised(one.text);
          if (more == 0) return fmt::format("({} / {})", text, by);
          return fmt::format("(({} {} {}) / {})", text, more < 0 ? "-" : "+", std::abs(more), by);
        }
      }
      for (const SizeExpression& one : plain_) {
        if (NumbersOfTwo{one.values[0] * by, one.values[1] * by} == numbers)
          return fmt::format("({} * {})", Parenthesised(one.text), by);
        // As many as there are around the middle one.
        if (by == 2 && NumbersOfTwo{2 * one.values[0] + 1, 2 * one.values[1] + 1} == numbers)
          return fmt::format("(2 * {} + 1)", Parenthesised(one.text));
      }
    }
    for (const SizeExpression& one : plain_) {
      for (const SizeExpression& other : plain_) {
        const std::string a = Parenthesised(one.text), b = Parenthesised(other.text);
        const auto is = [&](auto operation) {
          return operation(one.values[0], other.values[0]) == numbers[0] &&
                 operation(one.values[1], other.values[1]) == numbers[1];
        };
        if (is([](auto x, auto y) { return x * y; })) return fmt::format("({} * {})", a, b);
        if (is([](auto x, auto y) { return y > 0 && x % y == 0 ? x / y : -1; })) return fmt::format("({} / {})", a, b);
        if (is([](auto x, auto y) { return x + y - 1; })) return fmt::format("({} + {} - 1)", a, b);
        if (is([](auto x, auto y) { return x - y + 1; })) return fmt::format("({} - {} + 1)", a, b);
      }
    }
    return std::nullopt;
  }

 private:
  std::array<Variables, 2> values_;
  std::vector<SizeExpression> plain_;
};

// The size of the output along an axis from what else there is.
std::string DefinedExtent(const ConvolutionExtents& of, std::size_t axis) {
  const auto at = [&](std::size_t first) { return Parenthesised(of.numbers[first + axis]); };
  return fmt::format("(({} + 2 * {} - {} * ({} - 1) - 1) / {} + 1)", at(15), at(12), at(9), at(3), at(6));
}

}  // namespace

std::size_t PlaceOfNumber(std::int64_t ConvolutionShape::*number) {
  return static_cast<std::size_t>(std::find(kNumbersOfShape.begin(), kNumbersOfShape.end(), number) - kNumbersOfShape.begin());
}

const std::string& ConvolutionExtents::Of(std::int64_t ConvolutionShape::*number) const { return numbers[PlaceOfNumber(number)]; }

ConvolutionShape ConvolutionExtents::With(const Variables& values, ConvolutionShape like) const {
  for (std::size_t i = 0; i < kNumbersOfShape.size(); ++i) like.*kNumbersOfShape[i] = ValueWith(numbers[i], values).value_or(0);
  return like;
}

ConvolutionExtents ConvolutionExtents::InWholeUnits(const std::string& name, std::int64_t unit) const {
  ConvolutionExtents whole = *this;
  const std::string units = fmt::format("({} / {} * {})", name, unit, unit);
  whole.images = WithOtherName(images, name, units);
  for (const auto number :
       {&ConvolutionShape::filters, &ConvolutionShape::out_depth, &ConvolutionShape::out_height, &ConvolutionShape::out_width})
    whole.numbers[PlaceOfNumber(number)] = WithOtherName(Of(number), name, units);
  return whole;
}

std::optional<std::string> ExpressionOf(std::array<std::int64_t, 2> numbers, const ConvolutionSearch& search,
                                        const std::array<LaunchRuns::Sizes, 2>& sizes, const std::vector<std::string>& passed) {
  return SizeExpressions(search, sizes, passed).Of(numbers);
}

std::optional<ConvolutionExtents> ExtentsIn(const ConvolutionSearch& search, const std::vector<std::string>& passed,
                                            std::string& why) {
  const auto& [one, other] = search.found();
  SizeExpressions expressions(search, {one.sizes, other.sizes}, passed);
  const Variables first = search.ValuesOf(one.sizes), second = search.ValuesOf(other.sizes);
  ConvolutionExtents extents;
  for (std::size_t i = 0; i < kNumbersOfShape.size(); ++i) {
    const auto member = kNumbersOfShape[i];
    const NumbersOfTwo numbers{one.shape.*member, other.shape.*member};
    const bool of_output = member == &ConvolutionShape::out_depth || member == &ConvolutionShape::out_height ||
                           member == &ConvolutionShape::out_width;
    std::optional<std::string> text;
    // What the definition gives is no accident.
    if (of_output && !one.shape.transposed) {
      const std::size_t axis = i - PlaceOfNumber(&ConvolutionShape::out_depth);
      const std::string defined = DefinedExtent(extents, axis), same = extents.numbers[i - 3];
      const auto is = [&](const std::string& tried) {
        return ValueWith(tried, first) == numbers[0] && ValueWith(tried, second) == numbers[1];
      };
      if (is(same))
        text = same;
      else if (is(defined) && one.shape.stride_y * one.shape.stride_x * one.shape.stride_z > 1)
        text = defined;
      if (!text) text = expressions.Of(numbers);
      if (!text && is(defined)) text = defined;
    } else {
      text = expressions.Of(numbers);
    }
    if (!text) {
      why = fmt::format("its {} does not follow from the sizes", kWhatNumbersAre[i]);
      return std::nullopt;
    }
    extents.numbers.push_back(*text);
  }
  return extents;
}

}  // namespace evo
