// Sizes that are compiled in (evo:size): which images are made, and which of them is launched.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "evaluator/messages/message_codec.h"
#include "evaluator/scheduling/champion_checker.h"
#include "evaluator/scheduling/image_sizes.h"
#include "evaluator/session/program_checker.h"
#include "evaluator/workers/compile_role.h"
#include "tests/evaluator/fake_job_runner.h"
#include "tests/evaluator/session_bench.h"

namespace evo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* kSource =
    "// evo:size COUNT = N\n// evo:launch k(x, y) grid(1) block(1)\n#ifndef COUNT\n#define COUNT 100\n#endif\n";

CompiledProgram Image(const std::string& image, std::int64_t count) {
  return {image, "", {{"k", "k"}}, {}, {}, {{"COUNT", count}}, {}};
}

Case Sized(std::int64_t n) { return {"n", {{"N", n}}, 1}; }

class ProgramOfSizes : public ::testing::Test {
 protected:
  ProgramOfSizes() {
    for (const char* image : {"of 100", "of 7"}) device_.kernels[image] = [](const auto&) {};
    Load();
  }
  std::variant<Program, Failure> TryLoad() {
    CompiledProgram compiled = Image("of 100", 100);
    compiled.others = {Image("of 7", 7)};
    return LoadProgram(device_, kSource, std::move(compiled));
  }
  void Load() { program_ = std::get<Program>(TryLoad()); }
  std::variant<LaunchBinding, Failure> Bind(std::int64_t n) { return LaunchBinding::Make(device_, program_, task_, Sized(n)); }

  FakeDevice device_{"cpu"};
  Task task_ = ParseTask(kTwiceTask, kTwiceSource, "twice");
  Program program_;
};

TEST_F(ProgramOfSizes, EachCaseLaunchesItsOwnImage) {
  EXPECT_EQ(std::get<LaunchBinding>(Bind(100)).image().compiled.image, "of 100");
  EXPECT_EQ(std::get<LaunchBinding>(Bind(7)).image().compiled.image, "of 7");
}

TEST_F(ProgramOfSizes, WithoutAnImageNothingIsLaunched) {
  const auto bound = Bind(8);
  ASSERT_TRUE(std::holds_alternative<Failure>(bound));
  EXPECT_EQ(std::get<Failure>(bound).outcome, Outcome::kLaunchError);
  EXPECT_EQ(std::get<Failure>(bound).message, "sizes are compiled in, and this was not compiled with COUNT = 8");
}

// Such as one with an array of 65,537 elements in each thread.
TEST_F(ProgramOfSizes, AnImageThatTheDeviceCannotHoldIsMissingForItsSizesOnly) {
  device_.refusals["of 7"] = {Outcome::kUnsupported, "too much local memory", false};
  Load();
  EXPECT_EQ(std::get<LaunchBinding>(Bind(100)).image().compiled.image, "of 100");
  const auto bound = Bind(7);
  ASSERT_TRUE(std::holds_alternative<Failure>(bound));
  EXPECT_EQ(std::get<Failure>(bound).outcome, Outcome::kUnsupported);
  EXPECT_EQ(std::get<Failure>(bound).message, "too much local memory");
}

TEST_F(ProgramOfSizes, TheFirstImageMustLoadAndNoneMayBreakTheDevice) {
  device_.refusals["of 100"] = {Outcome::kUnsupported, "too much local memory", false};
  EXPECT_TRUE(std::holds_alternative<Failure>(TryLoad()));
  device_.refusals = {{"of 7", {Outcome::kResourceLimit, "out of memory", true}}};
  EXPECT_TRUE(std::holds_alternative<Failure>(TryLoad()));
  device_.refusals = {{"of 7", {Outcome::kLaunchError, "invalid image", false}}};
  EXPECT_TRUE(std::holds_alternative<Failure>(TryLoad()));
}

// Such as an image of an older worker, or one whose values were lost on the way.
TEST_F(ProgramOfSizes, AnImageWithoutValuesIsForNoSize) {
  CompiledProgram compiled = Image("of 100", 100);
  compiled.sizes.clear();
  program_ = std::get<Program>(LoadProgram(device_, kSource, std::move(compiled)));
  EXPECT_TRUE(std::holds_alternative<Failure>(Bind(100)));
}

TEST(ImageDigest, CoversEveryImageAndItsValues) {
  CompiledProgram one = Image("a", 100);
  CompiledProgram other = Image("a", 7);
  EXPECT_NE(ImageDigest(one), ImageDigest(other));
  CompiledProgram both = one;
  both.others = {Image("b", 7)};
  EXPECT_NE(ImageDigest(both), ImageDigest(one));
  CompiledProgram changed = both;
  changed.others.front().image = "c";
  EXPECT_NE(ImageDigest(changed), ImageDigest(both));
}

TEST(CompiledSizes, AllImagesTravel) {
  CompiledProgram compiled = Image("of 100", 100);
  compiled.others = {Image("of 7", 7), Image("of 8", 8)};
  CompileResult result;
  result.program = compiled;
  result.checked = Image("checked", 7);
  const CompileResult back = ToCompileResult(ToMessage(result));
  EXPECT_EQ(ImageDigest(back.program), ImageDigest(compiled));
  ASSERT_THAT(back.program.others, SizeIs(2));
  EXPECT_EQ(back.program.others[1].image, "of 8");
  EXPECT_EQ(back.program.others[1].kernels.at(0).symbol, "k");
  EXPECT_EQ(back.checked.image, "checked");
}

// Remembers what it compiles; refuses a count of 13.
class RecordingCompiler : public Compiler {
 public:
  explicit RecordingCompiler(std::vector<std::string>& sources) : sources_(sources) {}
  CompileResult Compile(const CompilerInput& input) override {
    CompileResult result;
    sources_.push_back((input.checked ? "checked " : "") + input.source.substr(input.source.find("#define") + 8));
    if (input.source.find("COUNT 13\n") != std::string::npos) {
      result.message = "line 4: too many";
      return result;
    }
    result.outcome = Outcome::kOk;
    result.program.image = sources_.back();
    return result;
  }

 private:
  std::vector<std::string>& sources_;
};

class SilentChannel : public WorkerChannel {
 public:
  void Begin(Stage, bool) override { ++begun; }
  int begun = 0;
};

std::vector<Sizes> Counts(const std::vector<std::int64_t>& counts) {
  std::vector<Sizes> sizes;
  for (const std::int64_t n : counts) sizes.push_back({{"N", n}});
  return sizes;
}

class CompiledImages : public ::testing::Test {
 protected:
  CompileResult Compile(const ImageSizes& sizes, const std::string& source = kSource) {
    sources_.clear();
    CompileRole role(std::make_unique<RecordingCompiler>(sources_), std::make_unique<RecordingCompiler>(of_check_));
    return ToCompileResult(role.Handle(ToMessage(CompileRequest{source, "sm_90a", true, {}, sizes}), channel_));
  }
  std::vector<std::string> sources_;
  std::vector<std::string> of_check_;
  SilentChannel channel_;
};

TEST_F(CompiledImages, OneForEachSetOfValues) {
  const CompileResult result = Compile({Counts({100, 7, 100}), Counts({7, 8}), Counts({7})});
  ASSERT_EQ(result.outcome, Outcome::kOk) << result.message;
  EXPECT_THAT(sources_,
              ElementsAre("COUNT 100\n#endif\n", "COUNT 7\n#endif\n", "checked COUNT 7\n#endif\n", "COUNT 8\n#endif\n"));
  EXPECT_EQ(result.program.sizes, (SizeValues{{"COUNT", 100}}));
  ASSERT_THAT(result.program.others, SizeIs(2));
  EXPECT_EQ(result.program.others[0].sizes, (SizeValues{{"COUNT", 7}}));
  EXPECT_EQ(result.checked.sizes, (SizeValues{{"COUNT", 7}}));
  EXPECT_THAT(of_check_, SizeIs(2)) << "those that are needed must be valid CUDA";
  EXPECT_EQ(channel_.begun, 4) << "each has a deadline of its own";
}

// A size that the task does not list, at which the kernel would need more shared memory than the device has.
TEST_F(CompiledImages, NoneForSizesAtWhichNothingCanBeLaunched) {
  std::string source = kSource;
  source.replace(source.find("block(1)"), 8, "block(1) shared(4 * N)");
  DeviceInfo device;
  device.kind = "cpu";
  device.shared_bytes_per_block_optin = 232'448;
  device.max_threads_per_block = 1024;
  CompileRole role(std::make_unique<RecordingCompiler>(sources_), nullptr);
  role.Handle(ToMessage(LaunchLimitsRequest{kTwiceTask, kTwiceSource, "", device}), channel_);
  // Those with checked accesses are, so that the check can say that they are not launched.
  const CompileRequest request{
      source, "sm_90a", true, {}, {Counts({100}), Counts({58'112, 58'113, 58'114, 7}), Counts({58'114})}};
  const CompileResult result = ToCompileResult(role.Handle(ToMessage(request), channel_));
  ASSERT_EQ(result.outcome, Outcome::kOk) << result.message;
  EXPECT_THAT(sources_,
              ElementsAre("COUNT 100\n#endif\n", "COUNT 58112\n#endif\n", "COUNT 58114\n#endif\n", "COUNT 7\n#endif\n"));
}

TEST_F(CompiledImages, ASourceWithoutThemHasOne) {
  const CompileResult result = Compile({Counts({100, 7}), {}, {}}, std::string(kTwiceSource) + "#define N 1\n");
  ASSERT_EQ(result.outcome, Outcome::kOk) << result.message;
  EXPECT_TRUE(result.program.sizes.empty());
  EXPECT_THAT(result.program.others, SizeIs(0));
  EXPECT_THAT(sources_, SizeIs(2)) << "one with checked accesses";
}

// Nothing of a GPU's candidate is compiled twice: a search is as fast as its compile workers.
TEST_F(CompiledImages, OnAGpuEachIsCompiledOnce) {
  CompileRole role(std::make_unique<RecordingCompiler>(sources_), nullptr);
  const auto compile = [&](const std::string& source) {
    return ToCompileResult(
        role.Handle(ToMessage(CompileRequest{source, "sm_90a", true, {}, {Counts({100, 7, 100}), Counts({7}), {}}}), channel_));
  };
  ASSERT_EQ(compile(kSource).outcome, Outcome::kOk);
  EXPECT_THAT(sources_, SizeIs(2)) << "one for each set of values";
  sources_.clear();
  ASSERT_EQ(compile(std::string(kTwiceSource) + "#define N 1\n").outcome, Outcome::kOk);
  EXPECT_THAT(sources_, SizeIs(1));
}

TEST_F(CompiledImages, WhatDoesNotCompileForANeededSizeFails) {
  const CompileResult result = Compile({Counts({100, 13}), {}, {}});
  EXPECT_EQ(result.outcome, Outcome::kCompileError);
  EXPECT_EQ(result.message, "with COUNT = 13: line 4: too many");
}

TEST_F(CompiledImages, WhatDoesNotCompileForAnotherHasNoImageThere) {
  const CompileResult result = Compile({Counts({100}), Counts({13, 8}), {}});
  ASSERT_EQ(result.outcome, Outcome::kOk) << result.message;
  ASSERT_THAT(result.program.others, SizeIs(1));
  EXPECT_EQ(result.program.others[0].sizes, (SizeValues{{"COUNT", 8}}));
}

TEST_F(CompiledImages, AnExpressionWithoutAValueSaysWhere) {
  std::string source = kSource;
  source.replace(source.find("= N"), 3, "= 8 / (N - 7)");
  EXPECT_THAT(Compile({Counts({100, 7}), {}, {}}, source).message, HasSubstr("line 1: evo:size COUNT: "));
  EXPECT_EQ(Compile({Counts({100}), Counts({7}), {}}, source).outcome, Outcome::kOk);
  EXPECT_EQ(Compile({}, source).message, "sizes are compiled in (evo:size), and the request names none");
}

// Programs with equal digests do the same work: an evaluation is shared between them.
TEST_F(CompiledImages, TheDigestOfTheProgramCoversAllOfThem) {
  const std::string one = Compile({Counts({100, 7}), {}, {}}).program_digest;
  EXPECT_EQ(Compile({Counts({100, 7}), {}, {}}).program_digest, one);
  EXPECT_NE(Compile({Counts({100, 8}), {}, {}}).program_digest, one);
  EXPECT_NE(Compile({Counts({100}), {}, {}}).program_digest, one);
}

TEST(ImageSizes, ACheckNeedsAllCasesAndTriesOthers) {
  std::string json = kTwiceTask;
  for (const auto& [name, n] : std::map<std::string, std::string>{{"b", "256"}, {"c", "999"}, {"d", "33"}, {"a", "4096"}}) {
    const std::string before = R"({"name": ")" + name + R"(", "sizes": {"N": )";
    json.replace(json.find(before) + before.size(), 3, n);
  }
  const Task task = ParseTask(json, kTwiceSource, "twice");
  const ImageSizes of_search = SizesOfSearch(task, PolicyOf("cpu"));
  EXPECT_EQ(of_search.needed, Counts({256, 100}));
  EXPECT_THAT(of_search.wanted, SizeIs(0));
  EXPECT_EQ(of_search.checked, Counts({100}));
  const ImageSizes of_check = SizesOfCheck(task, PolicyOf("cpu"), 0);
  EXPECT_EQ(of_check.needed, Counts({256, 100, 33}));
  EXPECT_THAT(of_check.wanted, ::testing::IsSupersetOf(Counts({1, 4096})));
  EXPECT_EQ(of_check.checked, Counts({100, 256, 4096}));
  EXPECT_EQ(SizesOfCheck(task, PolicyOf("cuda"), 0).needed, Counts({4096, 100, 999}));
  EXPECT_EQ(SizesOfBlockSamples(task).checked, Counts({4096}));
}

// Keeps what it is asked, and says that the check has passed.
class FreshWorker : public FreshWorkers, public ChampionTools {
 public:
  class Runner : public ScriptedJobRunner {
   public:
    explicit Runner(std::vector<Job>& seen) : ScriptedJobRunner({FakeJobRunner::Reply(ToReply(Check()))}), seen_(seen) {}
    void Submit(Job job, Done done) override {
      seen_.push_back(job);
      ScriptedJobRunner::Submit(std::move(job), std::move(done));
    }

   private:
    static ChampionCheck Check() {
      ChampionCheck check;
      check.outcome = Outcome::kOk;
      return check;
    }
    std::vector<Job>& seen_;
  };
  std::unique_ptr<JobRunner> StartRunner(const Seeds&) override { return std::make_unique<Runner>(jobs); }
  ToolRun SampleBlocks(const std::string&, const Seeds&, const std::stop_token&) override { return {}; }
  std::vector<ToolRun> RunSanitizer(const AttachedProgram&, const Seeds&, const std::stop_token&) override { return {}; }
  std::vector<Job> jobs;
};

JobResult Made(CompiledProgram program) {
  CompileResult result;
  result.outcome = Outcome::kOk;
  result.program = std::move(program);
  return FakeJobRunner::Reply(ToMessage(result));
}

// Each image that runs is nvcc's, made with the sizes that are compiled into it.
TEST(CompiledSizes, AnExportIsCompiledForEachImage) {
  CompiledProgram two = Image("of 100", 100);
  two.others = {Image("of 7", 7)};
  CompiledProgram nvcc;
  nvcc.image = "nvcc's";
  ScriptedJobRunner compile({Made(two), Made(two), Made(nvcc), Made(nvcc), Made(nvcc), Made(nvcc)});
  FreshWorker workers;
  ExportToJudge exported;
  exported.exported.options = {"-std=c++17"};
  const ImageSizes sizes{Counts({100}), Counts({7}), {}};
  const ChampionCheck check = ChampionChecker(compile, workers, &workers, "sm_90a", false, sizes)
                                  .CheckExport({}, {}, {}, {}, std::chrono::milliseconds(1000), exported, {});
  EXPECT_EQ(check.outcome, Outcome::kOk) << check.message;
  ASSERT_THAT(compile.jobs, SizeIs(6)) << "once more with lines";
  const auto asked = [&](std::size_t job) { return ToCompileWorkerRequest(compile.jobs[job].request); };
  EXPECT_EQ(std::get<CompileRequest>(asked(0)).sizes.wanted, Counts({7}));
  EXPECT_EQ(std::get<CompileRequest>(asked(1)).sizes.wanted, Counts({})) << "the baseline is only timed";
  EXPECT_THAT(std::get<ExportRequest>(asked(2)).exported.options, ElementsAre("-std=c++17", "-DCOUNT=100"));
  EXPECT_THAT(std::get<ExportRequest>(asked(3)).exported.options, ElementsAre("-std=c++17", "-DCOUNT=7"));
  const auto run = std::get<ChampionRequest>(ToRunRequest(workers.jobs.at(0).request)).candidate.program;
  EXPECT_EQ(run.image, "nvcc's");
  EXPECT_EQ(run.sizes, (SizeValues{{"COUNT", 100}}));
  ASSERT_THAT(run.others, SizeIs(1));
  EXPECT_EQ(run.others[0].image, "nvcc's");
  EXPECT_EQ(run.others[0].sizes, (SizeValues{{"COUNT", 7}}));
}

}  // namespace
}  // namespace evo
