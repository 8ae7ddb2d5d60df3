#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel_templates/dtype.h"

namespace evo {

// One inspection of device memory, done on the device. Addresses are the device's.
struct Inspection {
  enum class Kind {
    kEqual,    // `bytes` at `address` against `bytes` at `other`
    kOutput,   // elements of `dtype` at `address` against as many doubles at `other`
    kHash,     // `bytes` at `address`
    kPattern,  // `bytes` at `address` against a DevicePattern whose word is `other`: random unless `exact`
  };
  Kind kind = Kind::kEqual;
  std::uint64_t address = 0;
  std::uint64_t other = 0;
  std::uint64_t bytes = 0;    // at `address`
  Dtype dtype = Dtype::kF32;  // kOutput
  bool exact = false;         // kOutput: any inequality counts as different; kPattern: the word repeats
};

// The result. Parts of one inspection are joined with Add, always in the same order, so that sums are reproducible.
struct InspectionResult {
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  // kEqual and kPattern: bytes that differ. kOutput: elements that are wrong: if `exact`, unequal ones; otherwise those that are
  // not finite where the reference is, or not the same NaN or infinity.
  std::uint64_t different = 0;
  std::uint64_t first = kNone;   // index of the first of them
  double squares = 0;            // kOutput, over elements whose reference is finite: of the error
  double reference_squares = 0;  // of the reference
  double largest = 0;            // error
  std::uint64_t worst = kNone;   // its index, the first if there are several
  std::uint64_t hash = 0;        // kHash: of all bytes and their places

  void Add(const InspectionResult& part);
};

// Inspects host memory, where addresses are pointers.
InspectionResult InspectHere(const Inspection& inspection);

}  // namespace evo
