#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/breeder.h"
#include "core/enumeration.h"
#include "kernel_templates/kernel_template.h"

namespace evo {

// The operator of children that a sweep made.
inline constexpr const char* kSweep = "sweep";

// Breeds nothing: child `index` of generation g >= 1 is number (g - 1) * children + index of all legal parameter settings of the
// templates, whatever its parents are; behind the last one children fail. The settings come in a fixed order that strides through
// the space, so that a stretch of it has fast and slow ones. Renders in this process, since no edit has to be parsed.
class SweepBreeder : public Breeder {
 public:
  // `swept` names those of the templates whose settings are meant. Throws UsageError if they are too many to be listed.
  SweepBreeder(std::vector<KernelTemplate> templates, const std::vector<std::string>& swept, int children);

  // Legal settings, all templates together.
  std::uint64_t size() const { return size_; }
  // Enough to have them all.
  int Generations() const;

  void Start(std::vector<BreedRequest> requests) override { requests_ = std::move(requests); }
  std::vector<BredChild> Finish(std::stop_token stop) override;

 private:
  struct Swept {
    std::size_t place;  // in templates_
    Enumeration settings;
  };
  BredChild Breed(const BreedRequest& request) const;
  BredChild Render(Genome genome) const;
  Genome Setting(std::uint64_t number) const;

  std::vector<KernelTemplate> templates_;
  std::vector<Swept> swept_;
  std::uint64_t children_;
  std::uint64_t size_ = 0;
  std::uint64_t stride_ = 1;  // has no divisor in common with size_
  std::vector<BreedRequest> requests_;
};

}  // namespace evo
