#include "evaluator/gate/protected_memory.h"

namespace evo {

void ProtectedMemory::Add(const Inspection& inspection) { inspections_.push_back(inspection); }

DeviceStatus ProtectedMemory::TakeHashes(Device& device) {
  const Inspected seen = device.Inspect(inspections_);
  TakeHashes(seen.results);
  return seen.status;
}

void ProtectedMemory::TakeHashes(std::span<const InspectionResult> seen) {
  hashes_.clear();
  for (const InspectionResult& result : seen) hashes_.push_back(result.hash);
}

bool ProtectedMemory::Holds(std::span<const InspectionResult> seen) const {
  for (std::size_t i = 0; i < hashes_.size(); ++i) {
    if (seen[i].hash != hashes_[i] || seen[i].different != 0) return false;
  }
  return true;
}

std::size_t ProtectedMemory::bytes() const {
  std::size_t bytes = 0;
  for (const Inspection& inspection : inspections_) bytes += inspection.bytes;
  return bytes;
}

std::optional<Failure> ProtectedMemory::Check(Device& device, const std::vector<std::shared_ptr<const ProtectedMemory>>& all) {
  std::vector<Inspection> inspections;
  for (const auto& one : all) inspections.insert(inspections.end(), one->inspections_.begin(), one->inspections_.end());
  const Inspected seen = device.Inspect(inspections);
  if (!seen.status.ok()) return ToFailure(seen.status);
  std::span<const InspectionResult> left(seen.results);
  for (const auto& one : all) {
    if (!one->Holds(left))
      return Failure{Outcome::kCheating, "memory that answers are compared with was changed, not only the kernel's own buffers"};
    left = left.subspan(one->inspections_.size());
  }
  return std::nullopt;
}

}  // namespace evo
