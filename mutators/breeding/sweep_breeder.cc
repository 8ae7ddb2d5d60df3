#include "mutators/breeding/sweep_breeder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "kernel_templates/renderer.h"

namespace evo {
namespace {

// Multiples of the golden section of a circle spread most evenly over it, whatever their number (three-distance theorem).
constexpr double kGoldenSection = 0.6180339887498949;

std::uint64_t StrideOf(std::uint64_t size) {
  auto stride = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(kGoldenSection * static_cast<double>(size)));
  while (std::gcd(stride, size) > 1) ++stride;
  return stride;
}

}  // namespace

SweepBreeder::SweepBreeder(std::vector<KernelTemplate> templates, const std::vector<std::string>& swept, int children)
    : templates_(std::move(templates)), children_(static_cast<std::uint64_t>(children)) {
  for (std::size_t i = 0; i < templates_.size(); ++i) {
    if (std::find(swept.begin(), swept.end(), templates_[i].name) == swept.end()) continue;
    try {
      swept_.push_back({i, Enumeration(templates_[i].space)});
    } catch (const Error& error) {
      throw UsageError(fmt::format("--sweep: template {}: {} (-D NAME=VALUE)", templates_[i].name, error.what()));
    }
    size_ += swept_.back().settings.size();
  }
  if (size_ > 0) stride_ = StrideOf(size_);
}

int SweepBreeder::Generations() const {
  return static_cast<int>(std::min<std::uint64_t>((size_ + children_ - 1) / children_, std::numeric_limits<int>::max()));
}

std::vector<BredChild> SweepBreeder::Breed(std::vector<BreedRequest> requests, std::stop_token stop) {
  std::vector<BredChild> children;
  for (const BreedRequest& request : requests) {
    if (stop.stop_requested()) {
      children.emplace_back().failure = "cancelled";
      continue;
    }
    children.push_back(BreedOne(request));
  }
  return children;
}

BredChild SweepBreeder::BreedOne(const BreedRequest& request) const {
  if (request.operators.empty() && !request.parents.empty()) return Render(request.parents.front());
  const std::uint64_t number = (request.generation - 1) * children_ + request.index;
  BredChild child;
  if (request.generation < 1 || number >= size_) {
    child.failure = fmt::format("the sweep has {} settings", size_);
    return child;
  }
  child = Render(Setting(number));
  child.op = kSweep;
  child.parentless = true;
  return child;
}

BredChild SweepBreeder::Render(Genome genome) const {
  BredChild child;
  const auto found = std::find_if(templates_.begin(), templates_.end(),
                                  [&](const KernelTemplate& t) { return t.digest == genome.template_digest; });
  if (found == templates_.end() || !genome.edits.empty()) {
    child.failure = fmt::format("{}: no setting of one of this run's templates", genome.template_name);
    return child;
  }
  try {
    child.source = RenderParameters(found->text, genome.parameters);
    child.genome = std::move(genome);
  } catch (const Error& error) {
    child.failure = error.what();
  }
  return child;
}

Genome SweepBreeder::Setting(std::uint64_t number) const {
  // Below 2^64, as both factors are below 2^32: a template has at most Enumeration::kMost settings.
  std::uint64_t place = number * stride_ % size_;
  auto swept = swept_.begin();
  for (; place >= swept->settings.size(); ++swept) place -= swept->settings.size();
  const KernelTemplate& one = templates_[swept->index];
  return {one.name, one.digest, swept->settings.At(static_cast<std::size_t>(place)), {}};
}

}  // namespace evo
