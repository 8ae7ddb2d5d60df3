#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

// Products that are recognised by what their launches leave.
using ProductResultsTest = ForeignKernelTest;

TEST_F(ProductResultsTest, Parents) { CheckParents(); }

TEST_F(ProductResultsTest, TileContraction) {
  Check("tile_contraction", {{"01_row_per_thread"},
                             {"02_register_panels"},
                             {"03_bias_relu_registers"},
                             {"04_dot_of_fours", "scores: "},
                             {"05_integers_in_tiles"},
                             {"06_integers_without_bounds"},
                             {"07_halves_with_bias", "dense: "}});
}

TEST_F(ProductResultsTest, SplitTensorContraction) {
  Check("split_tensor_contraction", {{"01_row_per_thread"},
                                     {"02_register_panels"},
                                     {"03_bias_relu_registers"},
                                     {"04_dot_of_fours"},
                                     {"05_integers_in_tiles", "multiply: it sums up in int"},
                                     {"06_integers_without_bounds", "matmul: it sums up in int"},
                                     {"07_halves_with_bias", "dense: "}});
}

TEST_F(ProductResultsTest, NearMisses) {
  const auto refuses = [&](const std::string& kernel, const std::string& from, const std::string& to, const std::string& why) {
    Refuses("tile_contraction", kernel, from, to, why);
  };
  // Threads race.
  refuses("02_register_panels", "    __syncthreads();\n  }", "  }", "no barrier is between them");
  // The last products are left out where there are many.
  refuses("03_bias_relu_registers", "f < (int)features; f", "f < min((int)features, 64); f", "is no product of two matrices");
  // Another number in one corner, and a largest number.
  refuses("03_bias_relu_registers", "v > 0.f ? v : 0.f", "r == 0 && c == 0 ? 1.f : v > 0.f ? v : 0.f", "dense: ");
  refuses("03_bias_relu_registers", "v > 0.f ? v : 0.f", "v > 0.f ? fminf(v, 600.f) : 0.f", "it compares what it computes with");
  // Of integers: a sum that is cut off or shifted, what is no product, and one that elements decide about.
  refuses("05_integers_in_tiles", "int sum = 0;", "short sum = 0;", "multiply: ");
  refuses("05_integers_in_tiles", "[k][threadIdx.x];", "[k][threadIdx.x] >> 1;", "multiply: ");
  refuses("05_integers_in_tiles", "a[threadIdx.y][k] * b[k]", "a[threadIdx.y][k] + b[k]", "multiply: ");
  refuses("05_integers_in_tiles", "k < TILE; ++k) sum", "k < TILE; ++k) if (a[threadIdx.y][k] > 7) sum", "multiply: ");
  refuses("06_integers_without_bounds", "c[row * N + col] = sum;", "c[row * N + col] = sum > 255 ? 255 : sum;", "matmul: ");
  refuses("06_integers_without_bounds", "c[row * N + col] = sum;", "c[row * N + col] = sum % 1000;", "matmul: ");
  refuses("06_integers_without_bounds", "k < N; k++", "k < N - 1; k++", "matmul: ");
  // Products that are left out, and a largest number.
  refuses("07_halves_with_bias", "k += 32) sum", "k += 33) sum", "dense: ");
  refuses("07_halves_with_bias", "fmaxf(sum + bias[blockIdx.x], 0.f)", "fmaxf(sum + bias[blockIdx.x], 1.f)", "dense: ");
  // A number that decides whether C is read.
  refuses("02_register_panels", "beta * C[at];", "(beta == 0 ? 0 : beta * C[at]);", "gemm_panels: ");
}

}  // namespace
}  // namespace evo
