#include "mutators/analysis/thread_memory.h"

#include <gmock/gmock.h>

#include "mutators/analysis/fingerprint.h"
#include "mutators/analysis/source_query.h"
#include "tests/mutators/plain_kernels.h"

namespace evo {
namespace {

class ThreadMemoryTest : public testing::Test {
 protected:
  ThreadMemoryTest()
      : parent(PlainKernel("  float sums[2];\n  sums[0] = in[n];\n  out[0] = sums[0];\n")),
        memory(*parent.tree, setting, trace, refusal) {}

  // An element of what has this name.
  ThreadPlace Place(const std::string& name, std::int64_t index) const {
    ThreadPlace place;
    for (int node = 0; node < static_cast<int>(parent.tree->nodes().size()); ++node) {
      const SyntaxNode& one = parent.tree->node(node);
      if (one.name == name && (one.kind_name == "VarDecl" || one.kind_name == "ParmDecl")) place.memory = node;
    }
    place.index = index;
    return place;
  }

  const Parent parent;
  ThreadSetting setting;
  ThreadTrace trace;
  Refusal refusal;
  ThreadMemory memory;
};

TEST_F(ThreadMemoryTest, BuffersHaveRandomElements) {
  const ThreadPlace place = Place("in", 5);
  const ThreadValue value = memory.Load(place);
  EXPECT_TRUE(value.element);
  EXPECT_EQ(value.real, RandomElement(place.memory, 5));
  EXPECT_TRUE(trace.reads.at(place.memory).at(5).index.IsConstant(5));
  EXPECT_EQ(refusal.why(), "");
}

TEST_F(ThreadMemoryTest, RefusesWhatOtherThreadsMayHaveStored) {
  memory.Store(Place("out", 0), ThreadValue::Real(2));
  EXPECT_EQ(memory.Load(Place("out", 0)).real, 2);
  EXPECT_EQ(refusal.why(), "");
  memory.Load(Place("out", 1));
  EXPECT_EQ(refusal.why(), "it reads of out what other threads may have stored");
}

TEST_F(ThreadMemoryTest, RefusesToStoreWhereItHasRead) {
  memory.Load(Place("in", 0));
  memory.Store(Place("in", 1), ThreadValue::Real(2));
  EXPECT_EQ(refusal.why(), "it stores to in what is not understood");
}

TEST_F(ThreadMemoryTest, ElementsOfArraysNeedValues) {
  const ThreadPlace place = Place("sums", 1);
  memory.AddArray(place.memory, 2);
  EXPECT_EQ(memory.Variable(place.memory).kind, ThreadValue::Kind::kPointer);
  memory.Store(place, ThreadValue::Real(2));
  EXPECT_EQ(memory.Load(place).real, 2);
  EXPECT_EQ(refusal.why(), "");
  memory.Load(Place("sums", 0));
  EXPECT_EQ(refusal.why(), "an element of sums is read and has no value");
}

TEST_F(ThreadMemoryTest, ArraysEnd) {
  memory.AddArray(Place("sums", 0).memory, 2);
  memory.Store(Place("sums", 2), ThreadValue::Real(2));
  EXPECT_EQ(refusal.why(), "element 2 of the array sums");
}

}  // namespace
}  // namespace evo
