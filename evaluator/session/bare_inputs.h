#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "evaluator/gate/input_set.h"

namespace evo {

// The arguments of one case on a device without the reference's answer, for tools that judge what a kernel does and not what it
// computes. Each buffer is an allocation of its exact size.
class BareInputs {
 public:
  // Draws by the first generator. Large inputs whose elements are drawn one by one repeat their first million elements. Derived
  // arguments are zero.
  static std::variant<std::unique_ptr<BareInputs>, Failure> Make(Device& device, const Task& task, const Case& sizes,
                                                                 std::uint64_t seed);
  // Bytes of all arguments of a case.
  static std::size_t Bytes(const Task& task, const Case& sizes);

  BareInputs(const BareInputs&) = delete;
  BareInputs& operator=(const BareInputs&) = delete;
  ~BareInputs();

  BufferPlace PlaceOf(const std::string& name) const;
  // Writes what was drawn into the inputs, and bytes that are no result into the outputs.
  DeviceStatus Reset();

 private:
  struct Buffer {
    std::string name;
    BufferPlace place;
    std::vector<std::byte> contents;  // empty for an output
  };
  explicit BareInputs(DeviceMemory& memory) : memory_(memory) {}

  DeviceMemory& memory_;
  std::vector<Buffer> buffers_;
};

// Runs the program once on such inputs.
std::optional<Failure> RunBare(Device& device, Program& program, const Task& task, const Case& sizes, std::uint64_t seed);

}  // namespace evo
