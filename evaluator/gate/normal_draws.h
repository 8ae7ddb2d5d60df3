#pragma once

#include <cstddef>
#include <span>

#include "core/rng.h"
#include "core/vector_target.h"
#include "kernel_templates/dtype.h"

namespace evo {

// A normal distribution. Box and Muller's transform makes two numbers of two uniform ones.
struct Normal {
  double mean = 0;
  double deviation = 1;
};

// Two normal numbers of two uniform ones in [0, 1), as the C library's functions have them.
struct NormalPair {
  double first;
  double second;
};
NormalPair ToNormal(double uniform, double other);

// Fills with normal numbers. Those of an odd last pair are lost.
void DrawNormals(const Normal& normal, std::span<double> values, Rng& rng);

// The same bytes as those numbers have when they are rounded to the dtype, to nearest even: f32, f16 or bf16. Takes a third of
// the time or less: vector instructions compute them nearly, and where that could round another way, the number is computed anew.
void DrawRoundedNormals(const Normal& normal, Dtype dtype, std::span<std::byte> bytes, Rng& rng,
                        VectorTarget target = WidestVectorTarget());
bool HasRoundedNormals(Dtype dtype);

}  // namespace evo
