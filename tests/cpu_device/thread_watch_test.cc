#include "evaluator/device/cpu/thread_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/command.h"
#include "tests/cpu_device/kernel_bench.h"

namespace evo {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kMs = 1'000'000;

TEST(WorkElsewhereTest, ABusyMachineIsNoSign) {
  const ProcessorUse before{1000 * kMs, 100 * kMs, 100 * kMs, 300 * kMs, 7, {2}};
  ProcessorUse after{1010 * kMs, 110 * kMs, 110 * kMs, 310 * kMs, 7, {2}};
  EXPECT_EQ(WorkElsewhere(before, after), "");
  after.wall_ns += 500 * kMs;
  EXPECT_EQ(WorkElsewhere(before, after), "") << "another process had the processor";
  after.process_ns += kMs / 10;
  EXPECT_EQ(WorkElsewhere(before, after), "") << "what clocks are off";
}

// A virtual machine that was stopped for 5 ms while the clocks were read.
TEST(WorkElsewhereTest, AStopBetweenTwoClocksIsNoSign) {
  const ProcessorUse before{1005 * kMs, 100 * kMs, 105 * kMs, 300 * kMs, 7, {2}};
  EXPECT_EQ(WorkElsewhere(before, {1006 * kMs, 106 * kMs, 106 * kMs, 306 * kMs, 7, {2}}), "");
}

TEST(WorkElsewhereTest, OtherThreadsAreASign) {
  const ProcessorUse before{1000 * kMs, 100 * kMs, 100 * kMs, 300 * kMs, 7, {2}};
  EXPECT_THAT(WorkElsewhere(before, {1010 * kMs, 110 * kMs, 110 * kMs, 320 * kMs, 7, {2}}),
              HasSubstr("other threads worked for 10.000 ms"));
  EXPECT_THAT(WorkElsewhere(before, {1010 * kMs, 101 * kMs, 101 * kMs, 309 * kMs, 9, {2}}), HasSubstr("other threads worked"));
  EXPECT_THAT(WorkElsewhere(before, {1001 * kMs, 101 * kMs, 101 * kMs, 301 * kMs, 7, {2, 3}}), HasSubstr("a thread was started"));
  EXPECT_THAT(WorkElsewhere(before, {1001 * kMs, 101 * kMs, 101 * kMs, 301 * kMs, 7, {3}}), HasSubstr("a thread was started"));
}

TEST(WorkElsewhereTest, SleepingIsASign) {
  const ProcessorUse before{1000 * kMs, 100 * kMs, 100 * kMs, 300 * kMs, 7, {2}};
  EXPECT_THAT(WorkElsewhere(before, {1010 * kMs, 101 * kMs, 101 * kMs, 301 * kMs, 8, {2}}), HasSubstr("the kernel slept"));
  EXPECT_EQ(WorkElsewhere(before, {1010 * kMs, 109 * kMs, 109 * kMs, 309 * kMs, 8, {2}}), "");
}

// Images that no compiler of ours would make: row 37 of docs/hazards.md.
class ThreadsTest : public CpuDeviceTest {
 protected:
  // out[0] = 7 after a hundred million steps of `work`, as `body` arranges it.
  std::unique_ptr<LoadedProgram> LoadImage(const std::string& body) {
    const auto folder = std::filesystem::temp_directory_path() / ("evo-threads-test-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    const auto source = folder / "image.cc";
    const auto image = folder / "image.so";
    WriteFile(source,
              "#include \"evo_cpu/prelude.h\"\n#include <atomic>\n#include <thread>\n#include <unistd.h>\n#include <sys/wait.h>\n"
              "static void work(int* out) {\n  volatile int steps = 0;\n"
              "  for (int i = 0; i < 100000000; ++i) steps = steps + 1;\n"
              "  out[0] = 7;\n}\n" +
                  body + "EVO_CPU_EXPORT(evo_cpu_kernel_0, k)\n");
    const CommandResult compiled =
        RunCommand("g++",
                   {"-std=c++17", "-O2", "-w", "-fPIC", "-shared", "-pthread", "-I" + (ShareDirectory() / "cpu").string(),
                    "-isystem", (*CudaRoot() / "include").string(), source.string(), "-o", image.string()},
                   "install it");
    EXPECT_EQ(compiled.status, 0) << compiled.output;
    CompileResult result;
    result.program = {ReadFile(image), "", {{"k", "evo_cpu_kernel_0"}}};
    std::filesystem::remove_all(folder);
    LoadResult loaded = device_->Load(result.program, 1);
    load_status_ = loaded.status;
    return std::move(loaded.program);
  }

  DeviceStatus TimeOnce(LoadedProgram& program) {
    const Address out = Upload(std::vector<int>(1, 0));
    TimedRun run{{}, {Launch({1, 1, 1}, {1, 1, 1}, {out})}};
    const DeviceStatus status = device_->Time(program, std::span(&run, 1)).status;
    EXPECT_EQ(Download<int>(out, 1)[0], 7);
    return status;
  }

  DeviceStatus load_status_;
};

TEST_F(ThreadsTest, WorkOfTheKernelItselfIsFine) {
  const auto program = LoadImage("__global__ void k(int* out) { work(out); }\n");
  EXPECT_TRUE(TimeOnce(*program).ok());
}

TEST_F(ThreadsTest, AThreadThatWorksWhileTheKernelWaitsIsFound) {
  const auto program = LoadImage("__global__ void k(int* out) { std::thread other(work, out); other.join(); }\n");
  const DeviceStatus status = TimeOnce(*program);
  EXPECT_EQ(status.outcome, Outcome::kCheating);
  EXPECT_THAT(status.message, HasSubstr("other threads worked"));
  EXPECT_TRUE(status.sticky);
}

TEST_F(ThreadsTest, AnotherProcessIsFoundBecauseTheKernelSleeps) {
  const auto program = LoadImage(
      "__global__ void k(int* out) {\n  const pid_t child = ::fork();\n  if (child == 0) { int mine; work(&mine); ::_exit(0); }\n"
      "  ::waitpid(child, nullptr, 0);\n  out[0] = 7;\n}\n");
  const DeviceStatus status = TimeOnce(*program);
  EXPECT_EQ(status.outcome, Outcome::kCheating);
  EXPECT_THAT(status.message, HasSubstr("the kernel slept"));
}

// An image with a unique symbol stays in the process when it is closed.
TEST_F(ThreadsTest, AnImageThatCannotBeUnloadedIsNotTakenForTheNext) {
  const std::string unique = "template <int N> struct Kept { static inline int value = N; };\n";
  {
    const auto first = LoadImage(unique + "__global__ void k(int* out) { out[0] = Kept<6>::value; }\n");
    const Address out = Upload(std::vector<int>(1, 0));
    EXPECT_TRUE(Run(*first, Launch({1, 1, 1}, {1, 1, 1}, {out})).ok());
    EXPECT_EQ(Download<int>(out, 1)[0], 6);
  }
  const auto second = LoadImage(unique + "__global__ void k(int* out) { out[0] = Kept<7>::value; }\n");
  const Address out = Upload(std::vector<int>(1, 0));
  EXPECT_TRUE(Run(*second, Launch({1, 1, 1}, {1, 1, 1}, {out})).ok());
  EXPECT_EQ(Download<int>(out, 1)[0], 7);
}

// The threads of the last two tests stay.
TEST_F(ThreadsTest, AThreadThatStaysIsFoundInTheFirstCheck) {
  const auto program = LoadImage(
      "static std::atomic<int*> job{nullptr};\n"
      "__global__ void k(int* out) {\n  static bool started = false;\n"
      "  if (!started) std::thread([] { for (;;) { if (int* now = job.exchange(nullptr)) work(now); ::usleep(100); } "
      "}).detach();\n"
      "  started = true;\n  job = out;\n  volatile int* written = out;\n  while (*written != 7) ::usleep(100);\n}\n");
  const Address out = Upload(std::vector<int>(1, 0));
  const DeviceStatus first = Run(*program, Launch({1, 1, 1}, {1, 1, 1}, {out}));
  EXPECT_EQ(first.outcome, Outcome::kCheating);
  EXPECT_THAT(first.message, HasSubstr("a thread was started"));
  EXPECT_THAT(TimeOnce(*program).message, HasSubstr("other threads worked")) << "and whenever it works later";
}

TEST_F(ThreadsTest, AThreadOfTheImagesOwnBeginningIsFound) {
  const auto program = LoadImage(
      "static bool early = (std::thread([] { for (;;) ::usleep(1000); }).detach(), true);\n__global__ void k(int* out) { "
      "work(out); }\n");
  EXPECT_EQ(program, nullptr);
  EXPECT_EQ(load_status_.outcome, Outcome::kCheating);
}

}  // namespace
}  // namespace evo
