#include "import/pointer_follower.h"

#include <gtest/gtest.h>

#include "tests/syntax/parsing.h"

namespace evo {
namespace {

// What the kernel `k` of the text does with its first parameter.
ParameterUse UseOfFirst(const std::string& text) {
  const SyntaxTree tree = ParseSource(text);
  const SourceProgram program(tree);
  const ProgramFunction& kernel = program.functions()[static_cast<std::size_t>(program.FindFunction("k"))];
  return PointerFollower(program, kernel).Of(kernel.parameters.front().node);
}

TEST(PointerFollower, TellsReadsFromWrites) {
  const ParameterUse read = UseOfFirst("__global__ void k(const float* p, float* q) { q[0] = p[threadIdx.x]; }\n");
  EXPECT_TRUE(read.read);
  EXPECT_FALSE(read.written);
  const ParameterUse written = UseOfFirst("__global__ void k(float* p) { p[threadIdx.x] = 1; }\n");
  EXPECT_FALSE(written.read);
  EXPECT_TRUE(written.written);
  const ParameterUse both = UseOfFirst("__global__ void k(float* p) { p[threadIdx.x] += 1; }\n");
  EXPECT_TRUE(both.read && both.written);
  EXPECT_FALSE(both.partial);
}

TEST(PointerFollower, FollowsVariablesAndDeviceFunctions) {
  const ParameterUse use = UseOfFirst(
      "__device__ void put(float* to, float value) { *to = value; }\n"
      "__global__ void k(float* p) { float* row = p + 4; put(row, 2.0f); }\n");
  EXPECT_TRUE(use.written);
}

TEST(PointerFollower, AReferenceToAnElementIsTheElement) {
  const ParameterUse both = UseOfFirst("__global__ void k(float* p, float a) { float& x = *(p + 4); a = a + x; x = a; }\n");
  EXPECT_TRUE(both.read && both.written);
  const ParameterUse read = UseOfFirst("__global__ void k(float* p, float* q) { const float& x = p[4]; q[0] = x; }\n");
  EXPECT_TRUE(read.read);
  EXPECT_FALSE(read.written);
  const ParameterUse passed = UseOfFirst(
      "__device__ void put(float& to, float value) { to = value; }\n"
      "__global__ void k(float* p) { put(p[3], 2.0f); }\n");
  EXPECT_TRUE(passed.written);
  const ParameterUse value = UseOfFirst(
      "__device__ void put(float to, float value) { to = value; }\n"
      "__global__ void k(float* p) { put(p[3], 2.0f); }\n");
  EXPECT_FALSE(value.written);
  // A reference to the pointer is the pointer.
  const ParameterUse pointer = UseOfFirst(
      "__device__ void move(float*& to) { to += 4; }\n"
      "__global__ void k(float* p, float* q) { move(p); q[0] = p[0]; }\n");
  EXPECT_TRUE(pointer.read);
  EXPECT_FALSE(pointer.written);
}

TEST(PointerFollower, KnowsAtomicsAndWritesAtEdges) {
  EXPECT_TRUE(UseOfFirst("__global__ void k(int* p) { atomicAdd(&p[0], 1); }\n").atomic);
  EXPECT_TRUE(UseOfFirst("__global__ void k(int* p, int i) { if (i > 0) p[i] = 1; }\n").partial);
  EXPECT_FALSE(UseOfFirst("__global__ void k(int* p, int i) { if (i > 0) p[i] = 1; p[i] = 2; }\n").partial);
}

TEST(PointerFollower, FollowsAFieldOfAStruct) {
  const std::string text =
      "struct S { float* a; float* b; };\n"
      "__global__ void k(S s) { S copy = s; copy.a[0] = s.b[0]; }\n";
  const SyntaxTree tree = ParseSource(text);
  const SourceProgram program(tree);
  const ProgramFunction& kernel = program.functions()[static_cast<std::size_t>(program.FindFunction("k"))];
  PointerFollower follower(program, kernel);
  const ParameterUse a = follower.OfField(kernel.parameters.front().node, "a");
  EXPECT_TRUE(a.written);
  EXPECT_FALSE(a.read);
  const ParameterUse b = follower.OfField(kernel.parameters.front().node, "b");
  EXPECT_TRUE(b.read);
  EXPECT_FALSE(b.written);
}

}  // namespace
}  // namespace evo
