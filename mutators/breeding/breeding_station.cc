#include "mutators/breeding/breeding_station.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "core/error.h"
#include "kernel_templates/renderer.h"
#include "mutators/analysis/kernel_kind.h"
#include "mutators/analysis/products/contraction.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/breeding/alike_edit.h"
#include "mutators/breeding/operator_draw.h"
#include "mutators/genetic/crossover.h"

namespace evo {
namespace {

// The number of parents whose directives are kept: as many as a generation has.
constexpr std::size_t kRendered = 64;

}  // namespace

BreedingStation::BreedingStation(std::vector<KernelTemplate> templates, SyntaxPaths paths)
    : templates_(std::move(templates)), renderer_(std::move(paths)) {
  // The first parse with new includes takes ten times as long as later ones, so it is done before children are requested.
  for (const KernelTemplate& one : templates_) renderer_.TreeOf(RenderParameters(one.text, one.space.Defaults()));
}

BredChild BreedingStation::Breed(const BreedRequest& request) {
  try {
    return BreedOrThrow(request);
  } catch (const Error& error) {
    BredChild child;
    child.failure = error.what();
    return child;
  }
}

const KernelTemplate* BreedingStation::TemplateOf(const Genome& genome) const {
  const auto found = std::find_if(templates_.begin(), templates_.end(),
                                  [&](const KernelTemplate& t) { return t.digest == genome.template_digest; });
  return found == templates_.end() ? nullptr : &*found;
}

const KernelTemplate& BreedingStation::RenderedOf(const std::string& name, const std::string& source) {
  const auto found = std::find_if(rendered_.begin(), rendered_.end(),
                                  [&](const KernelTemplate& one) { return one.text == source && one.name == name; });
  if (found != rendered_.end()) {
    rendered_.splice(rendered_.begin(), rendered_, found);
  } else {
    rendered_.push_front(ParseTemplate(name, source));
    if (rendered_.size() > kRendered) rendered_.pop_back();
  }
  return rendered_.front();
}

BredChild BreedingStation::BreedOrThrow(const BreedRequest& request) {
  BredChild child;
  if (request.parents.empty()) throw Error("breed request without a parent");
  const Genome& first = request.parents.front();
  const KernelTemplate* kernel_template = TemplateOf(first);
  if (!kernel_template) {
    throw Error(
        fmt::format("template {} with digest {} is not among this run's templates", first.template_name, first.template_digest));
  }
  for (std::size_t i = 0; i < request.sources.size() && i < request.parents.size(); ++i) {
    const KernelTemplate* its_template = TemplateOf(request.parents[i]);
    if (its_template && !request.sources[i].empty()) renderer_.Know(*its_template, request.parents[i], request.sources[i]);
  }
  RenderedGenome parent = renderer_.Render(*kernel_template, first);
  for (const Edit& edit : request.alike) AddAlike(parent, edit);
  if (request.operators.empty()) {
    child.genome = parent.applied;
    child.dropped = parent.dropped;
    child.source = parent.source;
    return child;
  }
  Rng rng(request.seed, request.generation, request.index);
  DrawOperators(request, rng, child, [&](const std::string& op) { return TryOperator(op, request, parent, rng, child); });
  return child;
}

void BreedingStation::AddAlike(RenderedGenome& parent, const Edit& edit) {
  const auto* mutator = dynamic_cast<const SourceMutator*>(mutators_.Find(edit.op));
  if (mutator == nullptr) throw Error(fmt::format("operator {}: there is none of that name that edits sources", edit.op));
  const KernelTemplate& kernel_template = *TemplateOf(parent.applied);
  const auto tree = renderer_.TreeOf(parent.source);
  const auto genome =
      WithAlikeEdit(*mutator, {kernel_template, parent.applied, *tree, RenderedOf(kernel_template.name, parent.source)}, edit);
  if (!genome) return;
  RenderedGenome with = renderer_.Render(kernel_template, *genome);
  if (with.dropped.empty() && with.source != parent.source) parent = std::move(with);
}

void BreedingStation::AtDefaults(const std::string& template_name, const std::function<void(const MutationContext&)>& look) {
  const auto named = [&](const KernelTemplate& one) { return one.name == template_name; };
  const auto found = std::find_if(templates_.begin(), templates_.end(), named);
  if (found == templates_.end()) throw Error(fmt::format("template {} is not among these", template_name));
  const Genome genome{found->name, found->digest, found->space.Defaults(), {}};
  const RenderedGenome rendered = renderer_.Render(*found, genome);
  const auto tree = renderer_.TreeOf(rendered.source);
  const bool beside = HasProductBeside(*found);
  look({*found, genome, *tree, RenderedOf(found->name, rendered.source), nullptr, beside});
}

bool BreedingStation::IsProduct(const KernelTemplate& kernel_template) {
  const auto known = products_.find(kernel_template.name);
  if (known != products_.end()) return known->second;
  const Genome genome{kernel_template.name, kernel_template.digest, kernel_template.space.Defaults(), {}};
  const std::string source = renderer_.Render(kernel_template, genome).source;
  const auto tree = renderer_.TreeOf(source);
  const MutationContext context{kernel_template, genome, *tree, RenderedOf(kernel_template.name, source)};
  const auto functions = Functions(*tree);
  return products_[kernel_template.name] = std::any_of(functions.begin(), functions.end(), [&](int function) {
           return IsKernel(*tree, function) && std::holds_alternative<Contraction>(AsContraction(context, function));
         });
}

// Only templates whose threads work together ask, and of others only those whose threads do not: that takes no parsing.
bool BreedingStation::HasProductBeside(const KernelTemplate& kernel_template) {
  const auto works_together = [](const KernelTemplate& one) {
    return one.text.find("__shared__") != std::string::npos || one.text.find("__sync") != std::string::npos;
  };
  return works_together(kernel_template) && std::any_of(templates_.begin(), templates_.end(), [&](const KernelTemplate& other) {
           return other.name != kernel_template.name && !works_together(other) && IsProduct(other);
         });
}

std::vector<MutatorPlaces> BreedingStation::PlacesIn(const std::string& template_name, const std::string& only) {
  std::vector<MutatorPlaces> places;
  AtDefaults(template_name, [&](const MutationContext& context) {
    for (const auto& [name, weight] : mutators_.DefaultOperators()) {
      if (!only.empty() && name != only) continue;
      if (const auto* source = dynamic_cast<const SourceMutator*>(mutators_.Find(name)))
        places.push_back({name, source->Proposals(context).size(), source->Refusals(context)});
    }
  });
  return places;
}

std::string BreedingStation::KindOf(const std::string& template_name) {
  std::string kind;
  AtDefaults(template_name, [&](const MutationContext& context) { kind = KernelKind(context); });
  return kind;
}

bool BreedingStation::TryOperator(const std::string& op, const BreedRequest& request, const RenderedGenome& parent, Rng& rng,
                                  BredChild& child) {
  const Mutator* mutator = mutators_.Find(op);
  if (!mutator) throw Error(fmt::format("operator {}: there is none of that name", op));
  const KernelTemplate& kernel_template = *TemplateOf(parent.applied);
  const auto tree = mutator->reads_source() ? renderer_.TreeOf(parent.source) : no_tree_;
  const bool beside = mutator->reads_source() && HasProductBeside(kernel_template);
  MutationContext context{kernel_template, parent.applied, *tree, RenderedOf(kernel_template.name, parent.source),
                          nullptr,         beside};
  if (request.parents.size() > 1) context.second_parent = &request.parents[1];
  const auto genome = mutator->Mutate(context, rng);
  if (!genome) return false;
  RenderedGenome result = renderer_.Render(kernel_template, *genome);
  if (result.source == parent.source) return false;
  child.genome = std::move(result.applied);
  child.op = op;
  child.used_second_parent = op == kCrossover;
  child.dropped = std::move(result.dropped);
  child.source = std::move(result.source);
  return true;
}

}  // namespace evo
