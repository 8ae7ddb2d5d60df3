#include "tests/cpu_device/checked_bench.h"

namespace evo {
namespace {

class ModuleStateTest : public CheckedKernelTest {
 protected:
  // Whether a launch changes the module's state.
  bool Changes(const std::string& source, bool checked) {
    const auto program = Load(source, "k", checked);
    const Address a = Upload(std::vector<int>(64, 0));
    const Address b = Upload(std::vector<int>(64, 0));
    const auto before = State(*program);
    EXPECT_FALSE(before.empty());
    EXPECT_TRUE(Run(*program, Launch({2, 1, 1}, {32, 1, 1}, {a, b, Int(64)})).ok());
    return State(*program) != before;
  }

 private:
  static std::vector<std::uint64_t> State(const LoadedProgram& program) {
    std::vector<std::uint64_t> hashes;
    for (const DeviceRange& range : program.State())
      hashes.push_back(InspectHere({Inspection::Kind::kHash, range.address, 0, range.bytes}).hash);
    return hashes;
  }
};

TEST_F(ModuleStateTest, ShowsAKernelThatCountsItsLaunches) {
  const std::string counts = "__device__ int launches;\n" +
                             Kernel("  if (t == 0 && blockIdx.x == 0) launches += 1;\n  b[blockIdx.x * 32 + t] = a[t];\n");
  EXPECT_TRUE(Changes(counts, false));
  EXPECT_TRUE(Changes(counts, true));
  EXPECT_TRUE(
      Changes("__device__ float cache[4] = {1, 2, 3, 4};\n" + Kernel("  if (t == 0 && blockIdx.x == 0) cache[3] = 5;\n"), false));
}

TEST_F(ModuleStateTest, StaysForAnHonestKernel) {
  const std::string honest = "__device__ float table[4] = {1, 2, 3, 4};\n__constant__ int offset = 1;\n" +
                             Kernel(
                                 "  __shared__ float s[32];\n  s[t] = a[t] + offset;\n  __syncthreads();\n"
                                 "  b[blockIdx.x * 32 + t] = s[31 - t] + expf(table[t % 4]);\n");
  EXPECT_FALSE(Changes(honest, false));
  EXPECT_FALSE(Changes(honest, true));
}

}  // namespace
}  // namespace evo
