#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "evaluator/gate/guarded_buffer.h"
#include "evaluator/gate/program.h"
#include "kernel_templates/task.h"

namespace evo {

// What is said where the device's memory does not suffice. `name`: what it was for.
DeviceStatus NoMemory(const std::string& name, std::size_t bytes);

// An argument of a case and its buffer on the device.
struct BoundArgument {
  const Argument* argument;
  GuardedBuffer buffer;
  std::shared_ptr<GuardedBuffer> reference;  // outputs and inouts, as doubles; constant once the reference has run
  std::optional<DevicePattern> before{};     // of an output: what it was filled with before the last run, if with a pattern
};

// The buffers of a case's arguments on the device, in the order of the arguments, with guards around each and around all of them.
// Notes which of them a program has overwritten.
class BoundArguments {
 public:
  // `memory` must outlive the object.
  explicit BoundArguments(DeviceMemory& memory) : memory_(memory) {}

  // Allocates an empty buffer for each argument that has one. `together`: they lie one behind the other from the start of a unit
  // of memory. The task must outlive the object.
  DeviceStatus Allocate(const Task& task, const Variables& variables, std::uint64_t guard_seed, bool together);

  auto begin() { return bound_.begin(); }
  auto end() { return bound_.end(); }
  auto begin() const { return bound_.begin(); }
  auto end() const { return bound_.end(); }
  std::size_t size() const { return bound_.size(); }
  BoundArgument& operator[](std::size_t index) { return bound_[index]; }
  const BoundArgument& operator[](std::size_t index) const { return bound_[index]; }

  // Adds the inspections of each argument's guards and of an input's contents, then those of the guards around all. Their number.
  std::size_t AppendInspections(std::vector<Inspection>& inspections) const;
  // What a program did, by what was seen of such an inspection: "wrote outside X"; empty if nothing.
  std::string WhatChanged(const Inspection& inspection, const InspectionResult& seen);
  // Writes guards and contents again if something had changed.
  void Restore();

 private:
  // Memory that holds all arguments. What lies before and behind them is guard, too.
  struct Block {
    DeviceMemory& memory;
    Address address;
    std::vector<DevicePoison> guards;
    Block(DeviceMemory& from, std::size_t bytes) : memory(from), address(from.Allocate(bytes)) {}
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    ~Block() {
      if (address != 0) memory.Free(address);
    }
    DeviceStatus WriteGuards() const;
  };
  std::variant<Address, DeviceStatus> AllocateBlock(std::uint64_t guard_seed, std::size_t arguments);

  DeviceMemory& memory_;
  std::unique_ptr<Block> block_;  // null where each has memory of its own
  std::vector<BoundArgument> bound_;
  bool overwritten_ = false;
};

}  // namespace evo
