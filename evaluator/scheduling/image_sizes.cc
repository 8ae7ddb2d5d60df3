#include "evaluator/scheduling/image_sizes.h"

#include <vector>

#include "evaluator/session/shape_probes.h"
#include "kernel_templates/case_scale.h"

namespace evo {
namespace {

void Add(std::vector<Sizes>& sizes, const std::vector<Case>& cases) {
  for (const Case& one : cases) sizes.push_back(one.sizes);
}

}  // namespace

ImageSizes SizesOfSearch(const Task& task, const DevicePolicy& policy) {
  ImageSizes sizes;
  Add(sizes.needed, SearchCases(task, policy.cases));
  Add(sizes.needed, {task.small});
  Add(sizes.checked, {task.small});
  return sizes;
}

ImageSizes SizesOfCheck(const Task& task, const DevicePolicy& policy, std::size_t memory_bytes) {
  ImageSizes sizes = SizesOfSearch(task, policy);
  Add(sizes.needed, HeldOutCases(task, policy.cases));
  Add(sizes.wanted, SizesToTry(task, policy, memory_bytes));
  Add(sizes.wanted, {ShrunkCase(task, task.small, policy.adversary_elements)});
  if (policy.checks_accesses) {
    Add(sizes.wanted, task.search_cuda);
    Add(sizes.checked, SearchCases(task, policy.cases));
    Add(sizes.checked, task.search_cuda);
  }
  return sizes;
}

ImageSizes SizesOfBlockSamples(const Task& task) {
  ImageSizes sizes;
  Add(sizes.needed, task.search_cuda);
  Add(sizes.checked, task.search_cuda);
  return sizes;
}

}  // namespace evo
