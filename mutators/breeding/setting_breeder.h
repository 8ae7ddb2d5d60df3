#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "core/breeder.h"
#include "kernel_templates/kernel_template.h"
#include "mutators/mutator_set.h"

namespace evo {

// Breeds parameter settings where there is no kernel to be rendered, by the operators that a run uses. The source of a child is
// its genome as JSON. Operators that read source code do not apply.
class SettingBreeder : public Breeder {
 public:
  using Exists = std::function<bool(const Parameters&)>;

  // `space` names the parameters and their values; `exists` stands for its constraints.
  SettingBreeder(SearchSpace space, Exists exists);

  std::vector<BredChild> Breed(std::vector<BreedRequest> requests, std::stop_token stop) override;

 private:
  BredChild BreedOne(const BreedRequest& request) const;
  bool TryOperator(const std::string& op, const BreedRequest& request, Rng& rng, BredChild& child) const;

  KernelTemplate kernel_template_;  // a space without a text
  Exists exists_;
  MutatorSet mutators_;
  std::shared_ptr<const SyntaxTree> no_tree_ = std::make_shared<const SyntaxTree>();
};

}  // namespace evo
