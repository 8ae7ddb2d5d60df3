#include "evaluator/gate/protected_memory.h"

namespace evo {

void ProtectedMemory::Add(const Inspection& inspection) { inspections_.push_back(inspection); }

DeviceStatus ProtectedMemory::Remember(Device& device) {
  const Inspected seen = device.Inspect(inspections_);
  hashes_.clear();
  for (const InspectionResult& result : seen.results) hashes_.push_back(result.hash);
  return seen.status;
}

std::size_t ProtectedMemory::bytes() const {
  std::size_t bytes = 0;
  for (const Inspection& inspection : inspections_) bytes += inspection.bytes;
  return bytes;
}

std::optional<Failure> ProtectedMemory::Check(Device& device, const std::vector<std::shared_ptr<const ProtectedMemory>>& all) {
  std::vector<Inspection> inspections;
  std::vector<std::uint64_t> hashes;
  for (const auto& one : all) {
    inspections.insert(inspections.end(), one->inspections_.begin(), one->inspections_.end());
    hashes.insert(hashes.end(), one->hashes_.begin(), one->hashes_.end());
  }
  const Inspected seen = device.Inspect(inspections);
  if (!seen.status.ok()) return ToFailure(seen.status);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    if (seen.results[i].hash == hashes[i] && seen.results[i].different == 0) continue;
    return Failure{Outcome::kCheating, "memory that answers are compared with was changed, not only the kernel's own buffers"};
  }
  return std::nullopt;
}

}  // namespace evo
