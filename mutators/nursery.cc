#include "mutators/nursery.h"

#include <fmt/format.h>

#include "core/error.h"
#include "mutators/edit_application.h"
#include "mutators/mutator_set.h"

namespace evo {
namespace {

// Operators tried for one child before its place stays empty.
constexpr int kTries = 8;

}  // namespace

Nursery::Nursery(std::vector<KernelTemplate> templates, SyntaxPaths paths) : renderer_(std::move(paths)) {
  for (KernelTemplate& one : templates) templates_.emplace(one.digest, std::move(one));
}

BredChild Nursery::Breed(const BreedRequest& request) {
  BredChild child;
  const Genome& parent = request.parents.at(0);
  const auto kernel_template = templates_.find(parent.template_digest);
  if (kernel_template == templates_.end()) {
    child.failure = fmt::format("template {} ({}) is not known here", parent.template_name, parent.template_digest);
    return child;
  }
  try {
    if (!request.operators.empty()) return TryOperators(request, kernel_template->second);
    RenderedGenome rendered = renderer_.Render(kernel_template->second, parent);
    child.genome = parent;
    child.source = std::move(rendered.source);
    child.dropped = std::move(rendered.dropped);
  } catch (const Error& error) {
    child.failure = error.what();
  }
  return child;
}

BredChild Nursery::TryOperators(const BreedRequest& request, const KernelTemplate& kernel_template) {
  const Genome& parent = request.parents.front();
  const std::string source = renderer_.Render(kernel_template, parent).source;
  const auto tree = renderer_.TreeOf(source);
  const KernelTemplate rendered = ParseTemplate(kernel_template.name, source);
  MutationContext context{kernel_template, rendered, parent, nullptr, *tree};
  if (request.parents.size() > 1 && request.parents[1].template_digest == parent.template_digest) context.second = &request.parents[1];
  Rng rng(request.seed, request.generation, request.index);
  std::vector<double> weights;
  for (const auto& [op, weight] : request.operators) weights.push_back(weight);
  BredChild child;
  for (int i = 0; i < kTries; ++i) {
    bool any = false;
    for (const double weight : weights) any = any || weight > 0;
    if (!any) break;
    const std::size_t drawn = rng.Weighted(weights);
    weights[drawn] = 0;
    const std::string& op = request.operators[drawn].first;
    if (TryOne(op, context, rng, child)) {
      child.op = op;
      child.used_second_parent = op == "crossover";
      return child;
    }
    child.inapplicable.push_back(op);
  }
  child.failure = "no operator applied";
  return child;
}

bool Nursery::TryOne(const std::string& op, const MutationContext& context, Rng& rng, BredChild& child) {
  const Mutator* mutator = FindMutator(op);
  if (mutator == nullptr) return false;
  const auto mutation = mutator->Mutate(context, rng);
  if (!mutation) return false;
  Genome genome = context.parent;
  RenderedGenome rendered;
  if (const auto* edit = std::get_if<Edit>(&*mutation)) {
    auto applied = ApplyEdit(context.tree, *edit);
    if (!std::holds_alternative<std::string>(applied)) return false;
    genome.edits.push_back(*edit);
    for (const auto& [name, value] : edit->parameters) genome.parameters[name] = value;
    rendered = edit->parameters.empty() ? RenderedGenome{std::move(std::get<std::string>(applied)), {}} : renderer_.Render(context.kernel_template, genome);
  } else {
    genome = std::get<Genome>(*mutation);
    rendered = renderer_.Render(context.kernel_template, genome);
  }
  if (rendered.source == context.tree.text()) return false;
  child.genome = std::move(genome);
  child.source = std::move(rendered.source);
  child.dropped = std::move(rendered.dropped);
  return true;
}

}  // namespace evo
