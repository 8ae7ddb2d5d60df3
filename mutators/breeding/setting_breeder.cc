#include "mutators/breeding/setting_breeder.h"

#include <fmt/format.h>

#include "core/error.h"
#include "mutators/breeding/operator_draw.h"
#include "mutators/genetic/crossover.h"

namespace evo {
namespace {

// Draws of one operator until its child exists. The operators of a run see the constraints and draw among what meets them; these
// draws among all, repeated, have the same distribution.
constexpr int kSettingTries = 200;

BredChild Child(const Genome& genome) {
  BredChild child;
  child.genome = genome;
  child.source = ToCanonicalJson(genome);
  return child;
}

}  // namespace

SettingBreeder::SettingBreeder(SearchSpace space, Exists exists) : exists_(std::move(exists)) {
  kernel_template_.space = std::move(space);
}

std::vector<BredChild> SettingBreeder::Breed(std::vector<BreedRequest> requests, std::stop_token stop) {
  std::vector<BredChild> children;
  for (const BreedRequest& request : requests) {
    if (stop.stop_requested())
      children.emplace_back().failure = "cancelled";
    else
      children.push_back(BreedOne(request));
  }
  return children;
}

BredChild SettingBreeder::BreedOne(const BreedRequest& request) const {
  if (request.operators.empty()) return Child(request.parents.front());
  Rng rng(request.seed, request.generation, request.index);
  BredChild child;
  DrawOperators(request, rng, child, [&](const std::string& op) { return TryOperator(op, request, rng, child); });
  return child;
}

bool SettingBreeder::TryOperator(const std::string& op, const BreedRequest& request, Rng& rng, BredChild& child) const {
  const Mutator* mutator = mutators_.Find(op);
  if (mutator == nullptr) throw Error(fmt::format("operator {}: there is none of that name", op));
  if (mutator->reads_source()) return false;
  MutationContext context{kernel_template_, request.parents.front(), *no_tree_, kernel_template_};
  if (request.parents.size() > 1) context.second_parent = &request.parents[1];
  for (int tries = 0; tries < kSettingTries; ++tries) {
    const auto genome = mutator->Mutate(context, rng);
    if (!genome) return false;
    if (!exists_(genome->parameters)) continue;
    child = Child(*genome);
    child.op = op;
    child.used_second_parent = op == kCrossover;
    return true;
  }
  return false;
}

}  // namespace evo
