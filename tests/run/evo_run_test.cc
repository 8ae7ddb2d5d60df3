// What `evo run` survives: Ctrl-C, kill -9 of the coordinator and of its workers, wrong arguments. Runs the real programs on the
// cpu device with the small task of tests/adversarial_kernels.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "tests/run/evo_process.h"

namespace evo {
namespace {

using ::testing::HasSubstr;

TEST_F(EvoRun, FindsABetterKernelAndSaysSo) {
  ASSERT_EQ(Run(RunArguments(2)), 0) << Output();
  EXPECT_THAT(Output(), HasSubstr("generation 2/2"));
  EXPECT_THAT(Output(), HasSubstr("held-out ok"));
  const History history(Database());
  const RunSummary run = history.FindRun(std::nullopt);
  EXPECT_EQ(run.status, RunStatus::kFinished);
  EXPECT_GE(run.evaluated, 2);
  EXPECT_TRUE(history.Best(run.record.id)->check);
}

// The template of tests/adversarial_kernels has four settings; generation 0 has its default.
TEST_F(EvoRun, SweepsEverySettingOnceAndGoesOnWithASweep) {
  const std::vector<std::string> sweep = {"run",     "--task",     TaskFolder(), "--device", "cpu",
                                          "--sweep", "--children", "2",          "--db",     Database()};
  std::vector<std::string> half = sweep;
  half.insert(half.end(), {"--generations", "1"});
  ASSERT_EQ(Run(half), 0) << Output();
  EXPECT_LT(History(Database()).FindRun(1).evaluated, 4);
  ASSERT_EQ(Run({"run", "--resume", "1", "--generations", "2", "--db", Database()}), 0) << Output();
  ASSERT_EQ(Run(sweep), 0) << Output();
  EXPECT_THAT(Output(), HasSubstr("generation 2/2"));
  const History history(Database());
  EXPECT_EQ(Children(1), Children(2)) << "a sweep that was continued is the sweep in one go";
  std::set<std::int64_t> blocks;
  for (const CandidateRecord& record : history.Candidates(2, {})) {
    EXPECT_EQ(record.evaluation.outcome, Outcome::kOk) << record.evaluation.message;
    EXPECT_EQ(record.candidate.op, record.candidate.generation == 0 ? "default" : "sweep");
    EXPECT_TRUE(record.candidate.parents.empty());
    EXPECT_TRUE(blocks.insert(record.candidate.genome.parameters.at("BLOCK")).second);
  }
  EXPECT_THAT(blocks, ::testing::ElementsAre(32, 64, 128, 256));
}

TEST_F(EvoRun, KeepsTheNumberOfGenerationsThatAResumedRunWasGiven) {
  std::vector<std::string> arguments = RunArguments(1);
  arguments.push_back("--no-check");
  ASSERT_EQ(Run(arguments), 0) << Output();
  ASSERT_EQ(Run({"run", "--resume", "1", "--generations", "3", "--no-check", "--db", Database()}), 0) << Output();
  EXPECT_EQ(History(Database()).FindRun(1).record.generations, 3);
  ASSERT_EQ(Run({"run", "--resume", "--no-check", "--db", Database()}), 0) << Output();
  EXPECT_EQ(History(Database()).FindRun(1).record.generations, 3) << "without the flag the number stays";
}

TEST_F(EvoRun, SearchesAtAGivenShapeAndKeepsIt) {
  std::vector<std::string> arguments = RunArguments(1);
  arguments.insert(arguments.end(), {"--shape", "N=2000", "--no-check"});
  ASSERT_EQ(Run(arguments), 0) << Output();
  EXPECT_EQ(Run({"run", "--resume", "--shape", "N=3000", "--db", Database()}), 2) << Output();
  EXPECT_THAT(Output(), HasSubstr("--shape: run 1 goes on with the shapes that it began with"));
  ASSERT_EQ(Run({"run", "--resume", "--generations", "2", "--no-check", "--db", Database()}), 0) << Output();
  EXPECT_THAT(Output(), HasSubstr("generation 2/2"));
  for (const CandidateRecord& record : History(Database()).Candidates(1, {})) {
    if (record.evaluation.outcome != Outcome::kOk) continue;
    ASSERT_EQ(record.evaluation.cases.size(), 1u);
    EXPECT_EQ(record.evaluation.cases[0].name, "shape_N2000");
  }
  ASSERT_EQ(Run({"verify", "--db", Database()}), 0) << Output();
  EXPECT_THAT(Output(), HasSubstr("held-out case n1502"));
  const std::string file = (folder_ / "kernel.cu").string();
  ASSERT_EQ(Run({"best", "--export", file, "--db", Database()}), 0) << Output();
  std::ifstream in(file);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_THAT(text, HasSubstr("Launches of case shape_N2000 (N=2000), in this order:"));
}

TEST_F(EvoRun, LeavesNothingInTheTemporaryFolder) {
  const fs::path temporary = folder_ / "tmp";
  fs::create_directory(temporary);
  ::setenv("TMPDIR", temporary.c_str(), 1);
  const pid_t killed = Start(RunArguments(1000));
  ASSERT_TRUE(WaitFor("generation 1/1000", milliseconds(60'000))) << Output();
  ::kill(killed, SIGKILL);
  Wait(killed);
  EXPECT_FALSE(fs::is_empty(temporary));  // the next run removes what the killed one left
  EXPECT_EQ(Run(RunArguments(1)), 0) << Output();
  ::unsetenv("TMPDIR");
  for (const auto& entry : fs::recursive_directory_iterator(temporary)) ADD_FAILURE() << entry.path();
}

TEST_F(EvoRun, EndsWithinTwoSecondsOfCtrlCAndKeepsTheBest) {
  const pid_t evo = Start(RunArguments(1000));
  ASSERT_TRUE(WaitFor("generation 1/1000", milliseconds(60'000))) << Output();
  ::kill(-evo, SIGINT);
  const auto asked = steady_clock::now();
  EXPECT_EQ(Wait(evo), 130) << Output();
  EXPECT_LT(steady_clock::now() - asked, milliseconds(2000));
  EXPECT_THAT(Output(), HasSubstr("interrupted"));
  const History history(Database());
  EXPECT_EQ(history.FindRun(std::nullopt).status, RunStatus::kInterrupted);
  EXPECT_TRUE(history.Best(1));
}

TEST_F(EvoRun, EndsSoonWhenInterruptedAtTheVeryStart) {
  for (const int wait : {0, 30, 150, 400, 900}) {
    const pid_t evo = Start(RunArguments(1000));
    std::this_thread::sleep_for(milliseconds(wait));
    ::kill(-evo, SIGINT);
    const auto asked = steady_clock::now();
    // Before main handles signals, their default action ends the program, which is as good.
    EXPECT_THAT(Wait(evo), ::testing::AnyOf(130, 1000 + SIGINT)) << wait << " ms: " << Output();
    EXPECT_LT(steady_clock::now() - asked, milliseconds(2000)) << wait << " ms: " << Output();
  }
}

TEST_F(EvoRun, ResumesAfterKillNineAtRandomMoments) {
  std::mt19937 random(std::random_device{}());
  ASSERT_EQ(Run(RunArguments(1)), 0) << Output();
  int generations = 2;
  for (int round = 0; round < 10; ++round, ++generations) {
    std::vector<std::string> arguments = RunArguments(generations + 50);
    arguments.push_back("--resume");
    const pid_t evo = Start(arguments);
    std::this_thread::sleep_for(milliseconds(300 + random() % 2500));
    ::kill(evo, SIGKILL);
    EXPECT_EQ(Wait(evo), 1000 + SIGKILL) << Output();
    ASSERT_EQ(IntegrityCheck(), "ok");
    const History history(Database());
    generations = std::max(generations, history.FindRun(1).generations_done);
  }
  std::vector<std::string> arguments = RunArguments(generations + 1);
  arguments.push_back("--resume");
  ASSERT_EQ(Run(arguments), 0) << Output();
  EXPECT_EQ(IntegrityCheck(), "ok");
  EXPECT_EQ(History(Database()).FindRun(1).status, RunStatus::kFinished);
}

TEST_F(EvoRun, FinishesAlthoughWorkersAreKilled) {
  const pid_t evo = Start(RunArguments(3));
  ASSERT_TRUE(WaitFor("templates ", milliseconds(60'000))) << Output();
  for (int i = 0; i < 6; ++i) {
    std::this_thread::sleep_for(milliseconds(200));
    for (const auto& entry : fs::directory_iterator("/proc")) {
      std::ifstream stat(entry.path() / "stat");
      std::string line;
      std::getline(stat, line);
      if (line.find("(evo-worker)") == std::string::npos) continue;
      std::istringstream words(line.substr(line.rfind(')') + 1));
      std::string state;
      pid_t parent = 0;
      words >> state >> parent;
      if (parent != evo) continue;
      ::kill(std::stoi(entry.path().filename().string()), SIGKILL);
      break;
    }
  }
  EXPECT_EQ(Wait(evo), 0) << Output();
  EXPECT_EQ(History(Database()).FindRun(1).status, RunStatus::kFinished);
}

TEST_F(EvoRun, AnswersWrongArgumentsInOneLineWithExitCodeTwo) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{}, "subcommand"},
      {{"run", "--generations"}, "--generations"},
      {{"run", "--generations", "many"}, "--generations"},
      {{"run", "--generations", "-3"}, "--generations"},
      {{"run", "--malformed"}, "--malformed"},
      {{"malformed"}, "malformed"},
      {{"run", "--task", "nosuch", "--db", Database()}, "nosuch"},
      {{"run", "--template", "nosuch", "--db", Database()}, "nosuch"},
      {{"run", "--device", "tpu", "--db", Database()}, "tpu"},
      {{"run", "--device", "cuda:x", "--db", Database()}, "cuda:x"},
      {{"run", "--l2", "warm"}, "--l2"},
      {{"run", "-D", "BLOCK", "--db", Database()}, "BLOCK"},
      {{"run", "-D", "NOSUCH=3", "--db", Database()}, "NOSUCH"},
      {{"run", "--time-limit", "soon", "--db", Database()}, "soon"},
      {{"run", "--task", TaskFolder(), "--shape", "M=3", "--device", "cpu", "--db", Database()}, "sizes are N"},
      {{"run", "--resume", "x", "--db", Database()}, "--resume"},
      {{"show", "x"}, "x"},
  };
  for (const auto& [arguments, named] : wrong) {
    EXPECT_EQ(Run(arguments), 2) << fmt::format("{}", fmt::join(arguments, " ")) << ": " << Output();
    const std::string output = Output();
    EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 1) << output;
    EXPECT_THAT(output, HasSubstr(named));
  }
  EXPECT_FALSE(fs::exists(Database()));
}

TEST_F(EvoRun, SaysWhatIsWrongWithFiles) {
  const auto fails = [&](const std::vector<std::string>& arguments, int status, const std::string& named) {
    EXPECT_EQ(Run(arguments), status) << Output();
    const std::string output = Output();
    EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 1) << output;
    EXPECT_THAT(output, HasSubstr(named));
  };
  fails({"best", "--db", Database()}, 2, "evo.db");
  std::ofstream(folder_ / "text.db") << "this is no database, and long enough not to be taken for an empty one";
  fails({"history", "--db", (folder_ / "text.db").string()}, 1, "text.db");
  std::vector<std::string> into_text = RunArguments(1);
  into_text.back() = (folder_ / "text.db").string();
  fails(into_text, 1, "text.db");
  fs::copy(TaskFolder(), folder_ / "task", fs::copy_options::recursive);
  std::ofstream(folder_ / "task" / "task.json") << "{ \"name\": ";
  std::vector<std::string> malformed = RunArguments(1);
  malformed[2] = (folder_ / "task").string();
  fails(malformed, 2, "task.json");
  EXPECT_FALSE(fs::exists(Database()));
}

TEST_F(EvoRun, RefusesATaskThatADegenerateKernelWouldPass) {
  for (const auto& [task, answer] :
       {std::pair{"task_zero_passes", "writes zeros"}, std::pair{"task_constant_passes", "writes a constant"}}) {
    std::vector<std::string> arguments = {
        "run",           "--device", "cpu",
        "--generations", "1",        "--db",
        Database(),      "--task",   (ShareDirectory() / "adversarial_kernels" / task).string()};
    EXPECT_EQ(Run(arguments), 1) << Output();
    EXPECT_THAT(Output(), ::testing::HasSubstr(fmt::format("task {}: a kernel that {} would pass its checks", task, answer)));
  }
}

TEST_F(EvoRun, RefusesABaselineThatFailsAndSaysByHowMuch) {
  fs::copy(TaskFolder(), folder_ / "task", fs::copy_options::recursive);
  std::ifstream in(folder_ / "task" / "honest.cu");
  std::string text((std::istreambuf_iterator<char>(in)), {});
  text.replace(text.find("x[i] + x[n - 1 - i]"), 19, "x[i] + x[n - 1 - i] * 1.01f");
  std::ofstream(folder_ / "task" / "honest.cu") << text;
  std::vector<std::string> arguments = RunArguments(1);
  arguments[2] = (folder_ / "task").string();
  EXPECT_EQ(Run(arguments), 1);
  EXPECT_THAT(Output(), HasSubstr("the baseline honest does not pass: wrong_result"));
  EXPECT_THAT(Output(), HasSubstr("relative L2 error"));
  EXPECT_EQ(History(Database()).FindRun(1).status, RunStatus::kFailed);
}

}  // namespace
}  // namespace evo
