#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/breeder.h"
#include "core/enumeration.h"
#include "kernel_templates/kernel_template.h"

namespace evo {

// The operator of children that a sweep makes.
inline constexpr const char* kSweep = "sweep";

// Enumerates instead of breeding: child `index` of generation g >= 1 has setting number (g - 1) * children + index of all legal
// parameter settings of the templates, whatever its parents are. After the last setting children fail. The settings come in a
// fixed order that strides through the space, so that every part of the order has fast and slow ones. Renders in this process,
// since no edit has to be parsed.
class SweepBreeder : public Breeder {
 public:
  // `swept` names the templates whose settings are enumerated. Throws UsageError if one has too many settings to be listed.
  SweepBreeder(std::vector<KernelTemplate> templates, const std::vector<std::string>& swept, int children);

  // Legal settings of all swept templates together.
  std::uint64_t size() const { return size_; }
  // Generations that it takes to evaluate all of them.
  int Generations() const;

  std::vector<BredChild> Breed(std::vector<BreedRequest> requests, std::stop_token stop) override;

 private:
  struct Swept {
    std::size_t index;  // in templates_
    Enumeration settings;
  };
  BredChild BreedOne(const BreedRequest& request) const;
  BredChild Render(Genome genome) const;
  Genome Setting(std::uint64_t number) const;

  std::vector<KernelTemplate> templates_;
  std::vector<Swept> swept_;
  std::uint64_t children_;
  std::uint64_t size_ = 0;
  std::uint64_t stride_ = 1;  // has no divisor in common with size_
};

}  // namespace evo
