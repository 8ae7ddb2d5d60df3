#include "mutators/analysis/products/product_guess.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "core/error.h"

namespace evo {
namespace {

// Elements that are looked at before all are.
constexpr std::size_t kFirstProductElements = 4;
// Of layouts in one search, each of which takes a millisecond or more.
constexpr std::size_t kMostTriedProducts = 200;

double ProductSumAt(const ProductLayout& layout, const ProductLayout::Place& place, const std::string& a, const std::string& b,
                    const ProductEnd::Elements& elements) {
  double sum = 0;
  for (std::int64_t at = 0; at < layout.k; ++at)
    sum += elements(a, layout.IndexOfA(place, at)) * elements(b, layout.IndexOfB(place, at));
  return sum;
}

ProductEnd::At EndAt(const ProductLayout::Place& place, std::int64_t element) { return {place.row, place.column, element}; }

// How far the lines of a matrix are apart, and the matrices of a batch.
struct MatrixDistances {
  ProductNumber by, next;
};

// Tries numbers and buffers for the parts of a product.
class ProductGuessSearch {
 public:
  ProductGuessSearch(const ProductRun& run, const std::vector<ProductNumber>& numbers, const std::vector<ProductNumber>& products,
                     const std::vector<ProductEnd>& ends)
      : run_(run), numbers_(numbers), all_(numbers), ends_(ends) {
    all_.insert(all_.end(), products.begin(), products.end());
  }

  std::vector<ProductGuess> Run(const std::string& output, const std::vector<std::string>& inputs) {
    stored_ = &run_.run.stored.at(output);
    ChooseElements();
    const auto outputs = OutputsOf(output);
    for (const std::string& a : inputs) {
      for (const std::string& b : inputs) {
        if (a == b) continue;
        for (ProductGuess guess : outputs) {
          guess.a = a, guess.b = b;
          TryFactors(guess);
        }
      }
    }
    return std::move(found_);
  }

 private:
  std::int64_t Of(const ProductNumber& number) const { return run_.values.Of(number.launch); }

  // Some that are not zero, from the first to the last.
  void ChooseElements() {
    std::vector<std::int64_t> known;
    for (const auto& [element, value] : *stored_) {
      if (value != 0) known.push_back(element);
    }
    for (std::size_t i = 0; i < kFirstProductElements && !known.empty(); ++i)
      chosen_.push_back(known[i * (known.size() - 1) / (kFirstProductElements - 1)]);
    std::rotate(chosen_.begin(), chosen_.begin() + (chosen_.size() > 1 ? 1 : 0), chosen_.end());
  }

  // Sizes of C with which each of its elements is stored.
  std::vector<ProductGuess> OutputsOf(const std::string& output) const {
    std::vector<ProductGuess> outputs;
    const auto count = static_cast<std::int64_t>(stored_->size());
    std::vector<ProductNumber> batches = numbers_;
    batches.insert(batches.begin(), {"1", "1"});
    for (const ProductNumber& batch : batches) {
      for (const ProductNumber& m : all_) {
        for (const ProductNumber& n : all_) {
          if (Of(batch) <= 0 || Of(batch) * Of(m) * Of(n) != count || (batch.launch != "1" && Of(batch) == 1)) continue;
          ProductGuess guess;
          guess.c = output, guess.batches = batch, guess.m = m, guess.n = n;
          AddOutputs(guess, outputs);
        }
      }
    }
    return outputs;
  }

  void AddOutputs(ProductGuess guess, std::vector<ProductGuess>& outputs) const {
    std::vector<ProductNumber> lines = numbers_, distances = all_;
    lines.insert(lines.begin(), guess.n);
    distances.insert(distances.begin(), Product(guess.m, guess.n));
    if (guess.batches.launch == "1") distances = {{"0", "0"}};
    for (const ProductNumber& by : lines) {
      for (const ProductNumber& next : distances) {
        guess.by_c = by, guess.next_c = next;
        const ProductLayout layout = guess.With(run_.values);
        if (layout.by_c < layout.n || (layout.batches > 1 && layout.next_c < layout.n)) continue;
        const bool all = std::all_of(stored_->begin(), stored_->end(),
                                     [&](const auto& element) { return layout.PlaceOf(element.first).has_value(); });
        if (!all) continue;
        outputs.push_back(guess);
        return;
      }
    }
  }

  static ProductNumber Product(const ProductNumber& a, const ProductNumber& b) {
    const std::string kernel = a.kernel.empty() || b.kernel.empty() ? "" : a.kernel + " * " + b.kernel;
    return {kernel, "(" + a.launch + ") * (" + b.launch + ")"};
  }

  // Whether as many elements of a buffer were read as matrices of so many have, one for each product or one for all.
  bool ReadsMatrices(const std::string& buffer, std::int64_t count, std::int64_t batches) const {
    const auto read = static_cast<std::int64_t>(run_.run.read.at(buffer).size());
    return read > 0 && (read == count || read == count * batches);
  }

  // Distances between lines and between matrices with which a buffer's elements are those that were read, by how far they are. Of
  // those that are as far in this run the first: none of the others would be found after it.
  std::vector<MatrixDistances> DistancesOf(const ProductGuess& guess, const std::string& buffer, const ProductNumber& lines,
                                           const ProductNumber& inner) const {
    const BufferContents& read = run_.run.read.at(buffer);
    const bool batched = guess.batches.launch != "1";
    const std::int64_t batches = Of(guess.batches), count = Of(lines) * Of(inner);
    std::vector<MatrixDistances> found;
    std::set<std::pair<std::int64_t, std::int64_t>> known;
    for (const ProductNumber& next : DistancesOf(lines, inner, batched)) {
      const std::int64_t apart = Of(next);
      if (static_cast<std::int64_t>(read.size()) != (apart == 0 ? 1 : batches) * count) continue;
      for (const ProductNumber& by : LinesOf(inner)) {
        const std::int64_t end = (batches - 1) * apart + (Of(lines) - 1) * Of(by) + Of(inner);
        if (read.begin()->first < 0 || read.rbegin()->first >= end || !known.emplace(Of(by), apart).second) continue;
        found.push_back({by, next});
      }
    }
    return found;
  }

  void TryFactors(ProductGuess guess) {
    const std::int64_t batches = Of(guess.batches), m = Of(guess.m), n = Of(guess.n);
    for (const ProductNumber& k : all_) {
      if (!ReadsMatrices(guess.a, m * Of(k), batches) || !ReadsMatrices(guess.b, n * Of(k), batches)) continue;
      guess.k = k;
      for (const bool a_by_columns : {false, true}) {
        guess.a_by_columns = a_by_columns;
        const auto of_a = a_by_columns ? DistancesOf(guess, guess.a, k, guess.m) : DistancesOf(guess, guess.a, guess.m, k);
        for (const bool b_by_columns : {false, true}) {
          guess.b_by_columns = b_by_columns;
          const auto of_b = b_by_columns ? DistancesOf(guess, guess.b, guess.n, k) : DistancesOf(guess, guess.b, k, guess.n);
          if (TryDistances(guess, of_a, of_b)) return;
        }
      }
    }
  }

  // Whether a product of these sizes was found.
  bool TryDistances(ProductGuess& guess, const std::vector<MatrixDistances>& of_a, const std::vector<MatrixDistances>& of_b) {
    for (const MatrixDistances& a : of_a) {
      guess.by_a = a.by, guess.next_a = a.next;
      for (const MatrixDistances& b : of_b) {
        guess.by_b = b.by, guess.next_b = b.next;
        TryEnds(guess, guess.With(run_.values));
        if (!found_.empty() && SameSizes(found_.back(), guess)) return true;
      }
    }
    return false;
  }

  static bool SameSizes(const ProductGuess& one, const ProductGuess& other) {
    return one.m.launch == other.m.launch && one.n.launch == other.n.launch && one.k.launch == other.k.launch &&
           one.a == other.a && one.b == other.b;
  }

  std::vector<ProductNumber> LinesOf(const ProductNumber& inner) const {
    std::vector<ProductNumber> lines{inner};
    for (const ProductNumber& number : numbers_) {
      if (Of(number) > Of(inner)) lines.push_back(number);
    }
    return lines;
  }

  std::vector<ProductNumber> DistancesOf(const ProductNumber& lines, const ProductNumber& columns, bool batched) const {
    if (!batched) return {{"0", "0"}};
    std::vector<ProductNumber> distances{Product(lines, columns), {"0", "0"}};
    distances.insert(distances.end(), all_.begin(), all_.end());
    return distances;
  }

  void TryEnds(ProductGuess& guess, const ProductLayout& layout) {
    const std::array numbers{layout.batches, layout.m,    layout.n,      layout.k,      layout.by_a,
                             layout.by_b,    layout.by_c, layout.next_a, layout.next_b, layout.next_c};
    if (tried_.size() >= kMostTriedProducts ||
        !tried_.emplace(guess.a, guess.b, numbers, layout.a_by_columns, layout.b_by_columns).second)
      return;
    std::vector<double> sums;
    std::vector<ProductEnd::At> places;
    for (const std::int64_t element : chosen_) {
      const auto place = *layout.PlaceOf(element);
      sums.push_back(ProductSumAt(layout, place, guess.a, guess.b, run_.elements));
      places.push_back(EndAt(place, element));
    }
    for (const ProductEnd& end : ends_) {
      bool holds = !chosen_.empty();
      for (std::size_t i = 0; i < chosen_.size() && holds; ++i)
        holds = end.Gives(stored_->at(chosen_[i]), sums[i], places[i], run_.elements);
      if (!holds) continue;
      guess.end = end;
      const ProductComparison compared = Compare(guess, run_);
      if (!compared.holds || !compared.complete) continue;
      found_.push_back(guess);
      tried_.erase({guess.a, guess.b, numbers, layout.a_by_columns, layout.b_by_columns});
      return;
    }
  }

  const ProductRun& run_;
  const std::vector<ProductNumber>& numbers_;
  std::vector<ProductNumber> all_;
  const std::vector<ProductEnd>& ends_;
  const BufferContents* stored_ = nullptr;
  std::vector<std::int64_t> chosen_;
  // What was none. The same numbers under other names would not be, either.
  std::set<std::tuple<std::string, std::string, std::array<std::int64_t, 10>, bool, bool>> tried_;
  std::vector<ProductGuess> found_;
};

}  // namespace

std::optional<ProductLayout::Place> ProductLayout::PlaceOf(std::int64_t element) const {
  if (element < 0 || by_c <= 0) return std::nullopt;
  // Products may follow each other in a line, as the columns of several do.
  Place place;
  std::int64_t left = element;
  if (batches > 1 && next_c > 0 && next_c < by_c) {
    place.row = element / by_c, left = element % by_c;
    place.batch = left / next_c, place.column = left % next_c;
  } else {
    place.batch = batches > 1 && next_c > 0 ? left / next_c : 0;
    left -= place.batch * next_c;
    place.row = left / by_c, place.column = left % by_c;
  }
  const bool is = place.batch < batches && place.row < m && place.column < n;
  return is ? std::optional(place) : std::nullopt;
}

std::int64_t ProductLayout::IndexOfA(const Place& place, std::int64_t at) const {
  return place.batch * next_a + (a_by_columns ? at * by_a + place.row : place.row * by_a + at);
}

std::int64_t ProductLayout::IndexOfB(const Place& place, std::int64_t at) const {
  return place.batch * next_b + (b_by_columns ? place.column * by_b + at : at * by_b + place.column);
}

std::int64_t ProductLayout::EndOfA() const { return IndexOfA({batches - 1, m - 1, n - 1}, k - 1) + 1; }
std::int64_t ProductLayout::EndOfB() const { return IndexOfB({batches - 1, m - 1, n - 1}, k - 1) + 1; }

std::int64_t LaunchedValues::Of(const std::string& text) const {
  const auto [known, fresh] = known_.try_emplace(text, 0);
  if (!fresh) return known->second;
  try {
    known->second = setting_.ValueOf(text);
  } catch (const Error&) {
    known->second = 0;
  }
  return known->second;
}

ProductLayout ProductGuess::With(const LaunchedValues& values) const {
  const auto of = [&](const ProductNumber& number) { return number.launch.empty() ? 0 : values.Of(number.launch); };
  return {of(batches), of(m),      of(n),      of(k),      of(by_a),     of(by_b),
          of(by_c),    of(next_a), of(next_b), of(next_c), a_by_columns, b_by_columns};
}

ProductComparison Compare(const ProductGuess& guess, const ProductRun& run) {
  ProductComparison compared;
  const auto stored = run.run.stored.find(guess.c);
  if (stored == run.run.stored.end()) return {false, false, false, false, false};
  const ProductLayout layout = guess.With(run.values);
  std::int64_t inside = 0;
  for (const auto& [element, value] : stored->second) {
    const auto place = layout.PlaceOf(element);
    if (!place) {
      compared.holds = false, compared.outside = true;
      continue;
    }
    ++inside;
    compared.last |= place->batch == layout.batches - 1 && place->row == layout.m - 1 && place->column == layout.n - 1;
    const double sum = ProductSumAt(layout, *place, guess.a, guess.b, run.elements);
    const auto at = EndAt(*place, element);
    if (!guess.end.Gives(value, sum, at, run.elements)) {
      compared.holds = false;
      break;
    }
    compared.in_order = compared.in_order && guess.end.ValueOf(sum, at, run.elements) == value;
  }
  compared.complete = inside == layout.batches * layout.m * layout.n;
  return compared;
}

std::vector<ProductGuess> ProductGuessesIn(const ProductRun& run, const std::string& output,
                                           const std::vector<std::string>& inputs, const std::vector<ProductNumber>& numbers,
                                           const std::vector<ProductNumber>& products, const std::vector<ProductEnd>& ends) {
  return ProductGuessSearch(run, numbers, products, ends).Run(output, inputs);
}

}  // namespace evo
