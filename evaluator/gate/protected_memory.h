#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "evaluator/device/device.h"
#include "evaluator/gate/program.h"

namespace evo {

// Memory that candidates are judged by: reference answers and the copies that inputs are compared with. The host keeps hashes of
// what it held when it was made, so that a kernel that finds it and changes it is found out.
class ProtectedMemory {
 public:
  // A range, or the guards of one (kPattern). To be called before TakeHashes.
  void Add(const Inspection& inspection);
  // Takes the hashes. No candidate may have run since the memory was written.
  DeviceStatus TakeHashes(Device& device);
  // The same from what was seen of inspections(), in their order.
  void TakeHashes(std::span<const InspectionResult> seen);
  // Whether the memory still holds it, by what was seen of inspections().
  bool Holds(std::span<const InspectionResult> seen) const;
  const std::vector<Inspection>& inspections() const { return inspections_; }
  std::size_t bytes() const;

  // kCheating if one of them no longer holds what it held. One look at the device for all.
  static std::optional<Failure> Check(Device& device, const std::vector<std::shared_ptr<const ProtectedMemory>>& all);

 private:
  std::vector<Inspection> inspections_;
  std::vector<std::uint64_t> hashes_;
};

}  // namespace evo
