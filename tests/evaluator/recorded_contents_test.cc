#include "evaluator/gate/recorded_contents.h"

#include <gmock/gmock.h>

#include <cstring>
#include <limits>

#include "core/error.h"
#include "evaluator/gate/input_generator.h"
#include "evaluator/messages/message_codec.h"
#include "evaluator/session/run_session.h"
#include "kernel_templates/recorded_file.h"
#include "tests/evaluator/session_bench.h"

namespace evo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename T>
NpzArray Array(const std::string& name, Dtype dtype, const std::vector<T>& values) {
  return {name,
          dtype,
          {static_cast<std::int64_t>(values.size())},
          std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T))};
}

constexpr const char* kTask = R"json({
  "name": "gather", "summary": "Y = X[I] + Y", "sizes": ["N", "M"],
  "arguments": [
    {"name": "X", "role": "in", "dtype": "f16", "shape": ["M"], "generators": ["normal"]},
    {"name": "I", "role": "in", "dtype": "u16", "shape": ["N"], "generators": ["index<M", "permutation"]},
    {"name": "Y", "role": "inout", "dtype": "f32", "shape": ["N"], "generators": ["normal"], "check": {"l2": 1e-3, "max": 0.02}}
  ],
  "domain": [{"of": "X", "from": -10, "to": 10, "reason": "test"}],
  "cases": {
    "small": {"name": "small", "sizes": {"N": 3, "M": 2}, "data": "a.npz"},
    "search": [{"name": "big", "sizes": {"N": 300, "M": 4}}], "search_cpu": [{"name": "cpu", "sizes": {"N": 30, "M": 4}}],
    "held_out": [{"name": "h", "sizes": {"N": 7, "M": 5}}], "held_out_cpu": [{"name": "odd_cpu", "sizes": {"N": 5, "M": 5}}]
  },
  "baseline": "naive", "reference": "reference.py", "bytes": "N", "operations": 5
})json";

class RecordedContentsTest : public ::testing::Test {
 protected:
  RecordedContentsTest() : task_(ParseTask(kTask, "def reference(X): return X", "t")) {}

  std::string Pack(const std::vector<double>& x, const std::vector<std::int64_t>& i, const std::vector<double>& expected) {
    RecordedFile file{"t/a.npz",
                      "",
                      {Array("X", Dtype::kF64, x), Array("I", Dtype::kI64, i), Array<float>("Y", Dtype::kF32, {7, 8, 9}),
                       Array("Y_expected", Dtype::kF64, expected)}};
    task_.recorded["a.npz"] = std::make_shared<const RecordedFile>(std::move(file));
    return PackRecorded(task_, task_.small);
  }
  std::string Refusal(const std::vector<double>& x, const std::vector<std::int64_t>& i, const std::vector<double>& expected) {
    try {
      Pack(x, i, expected);
      return "";
    } catch (const UsageError& error) {
      return error.what();
    }
  }

  Task task_;
};

TEST_F(RecordedContentsTest, ArgumentsGetTheirOwnTypes) {
  const RecordedContents contents = UnpackRecorded(task_, task_.small, Pack({1, -2.5}, {0, 1, 1}, {8.1, 5.5, 6.5}));
  EXPECT_THAT(ToDoubles(contents.inputs[0], Dtype::kF16), ElementsAre(1, -2.5));
  EXPECT_THAT(ToDoubles(contents.inputs[1], Dtype::kU16), ElementsAre(0, 1, 1));
  EXPECT_THAT(ToDoubles(contents.inputs[2], Dtype::kF32), ElementsAre(7, 8, 9));
  EXPECT_TRUE(contents.answers[0].empty());
  EXPECT_THAT(contents.answers[2], ElementsAre(8.1, 5.5, 6.5)) << "in double precision";
}

TEST_F(RecordedContentsTest, WhatWasNotPackedIsNoData) {
  std::string packed = Pack({1, -2.5}, {0, 1, 1}, {8, 5.5, 6.5});
  EXPECT_THROW(UnpackRecorded(task_, task_.held_out.front(), packed), Error);
  packed.pop_back();
  EXPECT_THROW(UnpackRecorded(task_, task_.small, packed), Error);
}

TEST_F(RecordedContentsTest, ValuesMustBeLegal) {
  EXPECT_EQ(Refusal({0.1, 1}, {0, 1, 1}, {1, 2, 3}),
            "t/a.npz: case 'small': X[0] is 0.1, which f16 cannot hold exactly; save what the kernels are to get, in their type");
  EXPECT_THAT(Refusal({1, 1}, {0, -1, 1}, {1, 2, 3}), HasSubstr("I[1] is -1, which u16 cannot hold exactly"));
  EXPECT_EQ(Refusal({1, 1}, {0, 1, 5}, {1, 2, 3}),
            "t/a.npz: case 'small': I[2] is 5, and task.json says index<M, which is 2 here");
  EXPECT_EQ(Refusal({1, 1}, {2, 1, 0}, {1, 2, 3}), "") << "a permutation is legal, too";
  EXPECT_THAT(Refusal({1, 11}, {0, 1, 1}, {1, 2, 3}),
              HasSubstr("X[1] is 11: outside the task's domain (X from -10 to 10: test)"));
  EXPECT_EQ(Refusal({1, 1}, {0, 1, 1}, {1, std::numeric_limits<double>::quiet_NaN(), 3}),
            "t/a.npz: case 'small': Y_expected[1] is NaN; a right answer is a number");
}

// kTwiceTask with data for the held-out case of the GPU. The inputs of the case are 1, 2, ..; the answers three times them.
class RecordedCaseTest : public ::testing::Test {
 protected:
  RecordedCaseTest() {
    std::string packed;
    const auto append = [&](const auto& value) { packed.append(reinterpret_cast<const char*>(&value), sizeof(value)); };
    for (int i = 0; i < kTwiceElements; ++i) append(static_cast<float>(i + 1));
    for (int i = 0; i < kTwiceElements; ++i) append(factor_ * (i + 1));
    data_.cases["c"] = packed;
  }

  const double factor_ = 3;
  AttachedData data_;
};

TEST_F(RecordedCaseTest, IsOneMoreInputOfItsCaseWithItsOwnAnswer) {
  std::string text = kTwiceTask;
  text.insert(text.find("\"name\": \"c\"") + 11, R"(, "data": "c.npz")");
  const Task task = ParseTask(text, kTwiceSource, "twice");
  SessionParts parts("cuda");
  parts.cache.Use(task, kTwiceSource, TwiceProgram("reference").program, data_);
  InputPool pool(parts.device, parts.cache, task, TwiceSetup().seeds);
  const Case& one = task.held_out.front();
  EXPECT_EQ(pool.Generators(task.small), 2);
  EXPECT_EQ(pool.Generators(one), 3);
  EXPECT_TRUE(pool.IsRecorded(one, 2));
  EXPECT_FALSE(pool.IsRecorded(one, 1));
  EXPECT_EQ(pool.CheckedSet(one, 2).References().front().at(9), 30) << "recorded";
  const double drawn = ToDoubles(pool.Contents(one, 1).front(), Dtype::kF32).at(9);
  EXPECT_EQ(pool.CheckedSet(one, 1).References().front().at(9), 2 * drawn) << "computed";
}

TEST_F(RecordedCaseTest, ACandidateThatIsWrongThereFails) {
  SetupRequest setup = TwiceSetup(kTwiceTask);
  setup.task_json.insert(setup.task_json.find("\"name\": \"c\"") + 11, R"(, "data": "c.npz")");
  setup.recorded = data_;
  const Message message = ToMessage(setup);
  const SetupRequest sent = std::get<SetupRequest>(ToRunRequest(message));
  EXPECT_EQ(sent.recorded.cases, data_.cases);
  SessionParts parts("cuda");
  parts.device.kernels["baseline"] = parts.device.kernels["candidate"];
  auto device = std::make_unique<FakeDevice>("cuda");
  device->kernels = parts.device.kernels;
  RunSession session(std::move(device), [] { return true; });
  session.Setup(sent);
  RecordingChannel channel;
  const ChampionCheck check =
      session.CheckChampion({TwiceProgram("candidate"), {}, TwiceProgram("baseline"), {}, 1, {}, {}}, channel);
  EXPECT_EQ(check.outcome, Outcome::kWrongResult);
  EXPECT_THAT(check.message, ::testing::AllOf(HasSubstr("case c: y: relative L2 error"), HasSubstr("recorded inputs of c.npz")));
}

}  // namespace
}  // namespace evo
