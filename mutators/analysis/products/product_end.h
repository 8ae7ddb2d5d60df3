#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace evo {

// What becomes of a sum of products before it is stored: f(alpha * sum + terms) or f(alpha * (sum + terms)).
struct ProductEnd {
  // An element of a buffer that is added or that multiplies: one for each column or row, or the one at the element's own place.
  enum class Place : std::uint8_t { kColumn, kRow, kElement };
  struct Term {
    std::string buffer, factor;  // without a factor it is 1
    Place place = Place::kColumn;
    double times = 1;
  };
  enum class Function : std::uint8_t { kNone, kRelu, kLeaky, kSigmoid, kSilu, kTanh, kGelu, kGeluByTanh };

  std::string alpha;  // empty: 1
  double times = 1;   // what alpha is in the runs
  std::vector<Term> scales, terms;
  bool outside = false;  // whether alpha and scales multiply the terms, too
  Function function = Function::kNone;
  bool keeps_nan = false;  // whether kRelu leaves what is no number
  std::string slope;       // of kLeaky, where a number is negative
  double leak = 0;

  // Where an element is.
  struct At {
    std::int64_t row = 0, column = 0, element = 0;
    std::int64_t Of(Place place) const { return place == Place::kColumn ? column : place == Place::kRow ? row : element; }
  };
  using Elements = std::function<double(const std::string& buffer, std::int64_t index)>;
  double ValueOf(double sum, const At& at, const Elements& elements) const;
  // Whether a stored number is that of a sum.
  bool Gives(double stored, double sum, const At& at, const Elements& elements) const;
  // The statement's right side, with the names of buffers in the kernel.
  std::string Text(const std::string& sum, const std::map<std::string, std::string>& names, const std::string& row,
                   const std::string& column, const std::string& element) const;
};

// All of them that may be: with these factors, and these buffers.
std::vector<ProductEnd> ProductEnds(const std::map<std::string, double>& factors, const std::vector<std::string>& buffers);

}  // namespace evo
