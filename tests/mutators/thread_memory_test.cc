#include "mutators/analysis/thread_runs/thread_memory.h"

#include <gmock/gmock.h>

#include "mutators/analysis/numbers/fingerprint.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/thread_runs/thread_arithmetic.h"
#include "tests/mutators/plain_kernels.h"

namespace evo {
namespace {

class ThreadMemoryTest : public testing::Test {
 protected:
  ThreadMemoryTest()
      : parent(PlainKernel("  float sums[2];\n  sums[0] = in[n];\n  out[0] = sums[0];\n")),
        symbols(*parent.tree, Functions(*parent.tree).front(), -1),
        code(*parent.tree),
        memory(*parent.tree, code, symbols, setting, trace, refusal) {}

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
  ThreadSymbols symbols;
  const ThreadCode code;
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
  memory.CheckBuffers();
  EXPECT_EQ(refusal.why(), "it reads of out what other threads may have stored");
}

TEST_F(ThreadMemoryTest, StoresWhereItHasReadTheSameElement) {
  memory.Load(Place("in", 1));
  memory.Store(Place("in", 1), ThreadValue::Real(2));
  memory.CheckBuffers();
  EXPECT_EQ(refusal.why(), "");
  memory.Load(Place("in", 0));
  memory.CheckBuffers();
  EXPECT_EQ(refusal.why(), "it reads of in what other threads may have stored");
}

TEST_F(ThreadMemoryTest, SumsTellTheirProducts) {
  setting.sums = true;
  ThreadArithmetic arithmetic(symbols, setting, trace);
  const ThreadValue a = memory.Load(Place("in", 1)), b = memory.Load(Place("in", 2));
  const ThreadValue once =
      arithmetic.Combined(IntegerOperator("+"), ThreadValue::Real(0), arithmetic.Combined(IntegerOperator("*"), a, b));
  const ThreadValue twice = arithmetic.Combined(IntegerOperator("+"), once, arithmetic.Combined(IntegerOperator("*"), b, b));
  ASSERT_TRUE(twice.sum && twice.sum->before);
  EXPECT_EQ(twice.sum->at_a, 2);
  EXPECT_EQ(twice.sum->value, a.real * b.real + b.real * b.real);
  EXPECT_EQ(twice.sum->before->at_a, 1);
  EXPECT_TRUE(twice.sum->before->IsTerm());
  const ThreadValue scaled = arithmetic.Combined(IntegerOperator("*"), twice, ThreadValue::Real(2));
  EXPECT_FALSE(scaled.sum);
  EXPECT_EQ(scaled.inner, twice.sum);
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
