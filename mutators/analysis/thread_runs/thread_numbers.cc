#include "mutators/analysis/thread_runs/thread_numbers.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "mutators/analysis/numbers/integer_arithmetic.h"

namespace evo {

ThreadNumbers GroupNumbers::Unknown() const { return {std::vector<double>(lanes_), std::vector<char>(lanes_, 0), {}}; }

ThreadNumbers GroupNumbers::Constant(double number) const {
  return {std::vector<double>(lanes_, number), std::vector<char>(lanes_, 1), {}};
}

ThreadNumbers GroupNumbers::Own(std::vector<double> numbers) const {
  ThreadNumbers values{std::move(numbers), std::vector<char>(lanes_, 1), std::vector<std::uint64_t>(lanes_ * words_)};
  for (std::size_t lane = 0; lane < lanes_; ++lane) values.of[lane * words_ + lane / 64] = std::uint64_t{1} << lane % 64;
  return values;
}

ThreadNumbers GroupNumbers::StandIn(double number) const {
  ThreadNumbers values = Constant(number);
  values.of.assign(lanes_ * words_, 0);
  for (std::size_t lane = 0; lane < lanes_; ++lane) values.of[lane * words_ + lanes_ / 64] = std::uint64_t{1} << lanes_ % 64;
  return values;
}

ThreadNumbers GroupNumbers::Combined(const std::string& type, std::string_view spelled, ThreadNumbers a,
                                     const ThreadNumbers& b) const {
  const IntegerOperator computed(spelled);
  const bool whole = ClassOf(type) == TypeClass::kInteger || type == "bool";
  const bool compares = computed.compares();
  const NumberType fits(type);
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    double& x = a.numbers[lane];
    const double y = b.numbers[lane];
    if (b.known[lane] == 0) a.known[lane] = 0;
    if (spelled == "&&" || spelled == "||") {
      x = (spelled == "&&" ? (x != 0 && y != 0) : (x != 0 || y != 0)) ? 1 : 0;
    } else if (compares) {
      x = computed.Holds(x, y) ? 1 : 0;
    } else if (whole) {
      const bool small = std::fabs(x) < 1e15 && std::fabs(y) < 1e15;
      const auto result =
          small ? computed.Result(static_cast<std::int64_t>(x), static_cast<std::int64_t>(y)) : std::optional<std::int64_t>();
      if (!result) a.known[lane] = 0;
      x = result ? static_cast<double>(fits.Fit(*result)) : 0;
    } else if (spelled == "+" || spelled == "-") {
      x = spelled == "+" ? x + y : x - y;
    } else if (spelled == "*" || spelled == "/") {
      x = spelled == "*" ? x * y : x / y;
    } else {
      a.known[lane] = 0;
    }
  }
  Mix(a, b.of);
  return a;
}

void GroupNumbers::Mix(ThreadNumbers& values, const std::vector<std::uint64_t>& of) const {
  if (of.empty()) return;
  if (values.of.empty()) values.of.assign(lanes_ * words_, 0);
  for (std::size_t i = 0; i < of.size(); ++i) values.of[i] |= of[i];
}

void GroupNumbers::Take(ThreadNumbers& held, const ThreadNumbers& values, const LaneMask& mask) const {
  if (held.of.empty() && !values.of.empty()) held.of.assign(lanes_ * words_, 0);
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (mask[lane] == 0) continue;
    held.numbers[lane] = values.numbers[lane];
    held.known[lane] = values.known[lane];
    for (std::size_t word = lane * words_; !held.of.empty() && word < (lane + 1) * words_; ++word)
      held.of[word] = values.of.empty() ? 0 : values.of[word];
  }
}

bool GroupNumbers::IsOfData(const ThreadNumbers& values, const LaneMask& mask) const {
  for (std::size_t i = 0; i < values.of.size(); ++i) {
    if (values.of[i] != 0 && mask[i / words_] != 0) return true;
  }
  return false;
}

bool GroupNumbers::IsOfStandIn(const ThreadNumbers& values, const LaneMask& mask) const {
  for (std::size_t lane = 0; lane < lanes_ && !values.of.empty(); ++lane) {
    if (mask[lane] != 0 && (values.of[lane * words_ + lanes_ / 64] >> lanes_ % 64 & 1u) != 0) return true;
  }
  return false;
}

bool GroupNumbers::IsOfAll(const ThreadNumbers& values, std::size_t lane) const {
  for (std::size_t word = 0; word * 64 < lanes_; ++word) {
    const std::size_t bits = std::min<std::size_t>(lanes_ - word * 64, 64);
    const std::uint64_t all = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    if (values.of.empty() || (values.of[lane * words_ + word] & all) != all) return false;
  }
  return true;
}

}  // namespace evo
