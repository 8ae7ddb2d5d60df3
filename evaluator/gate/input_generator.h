#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/rng.h"
#include "kernel_templates/task.h"

namespace evo {

// Draws an input of `elements` values. The same seed gives the same bytes. Values are rounded once, to nearest even. `variables`
// gives the sizes that an index bound may name. `memory`: of an input that is no longer needed, to be used again, since pages
// that are new to a process take longer than the numbers. Throws Error for a generator that the dtype cannot hold.
std::vector<std::byte> GenerateInput(const Generator& generator, Dtype dtype, std::int64_t elements, std::int64_t row_length,
                                     const Variables& variables, std::uint64_t seed, std::vector<std::byte> memory = {});

// The values of such an input before they are rounded, drawn in several threads if there are many. Throws Error for a bound that
// is not positive.
std::vector<double> DrawValues(const Generator& generator, std::size_t count, std::size_t row_length, const Variables& variables,
                               Rng& rng);

// The values in the dtype, rounded once, to nearest even. Throws Error for a value that an integer dtype cannot hold.
std::vector<std::byte> FromDoubles(const std::vector<double>& values, Dtype dtype);

// The elements as doubles: exact, except 64-bit integers beyond 2^53.
std::vector<double> ToDoubles(const std::vector<std::byte>& bytes, Dtype dtype);

// The same for part of an array, in the calling thread. `bytes` has room for as many elements as there are values.
void StoreDoubles(std::span<const double> values, Dtype dtype, std::span<std::byte> bytes);
void LoadDoubles(std::span<const std::byte> bytes, Dtype dtype, std::span<double> values);

}  // namespace evo
