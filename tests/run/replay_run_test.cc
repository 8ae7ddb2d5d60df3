// `evo run --replay`, and the rewards that a second run takes over from the first in a database. Runs the real programs on the
// cpu device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/run/evo_process.h"

namespace evo {
namespace {

using ::testing::HasSubstr;

class ReplayRun : public EvoRun {
 protected:
  std::string Copy() const { return (folder_ / "replay.db").string(); }

  std::vector<std::string> ReplayArguments(int generations, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {
        "run",          "--task", TaskFolder(), "--replay", Database(), "--generations", std::to_string(generations),
        "--population", "4",      "--children", "6",        "--db",     Copy()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  nlohmann::json OptionsOf(RunId run) const { return nlohmann::json::parse(History(Database()).FindRun(run).record.options); }

  void Change(const std::string& statement) const { SQLite::Database(Database(), SQLite::OPEN_READWRITE).exec(statement); }

  void Refused(const std::vector<std::string>& arguments, const std::string& why, int status = 2) const {
    EXPECT_EQ(Run(arguments), status) << Output();
    const std::string output = Output();
    EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 1) << output;
    EXPECT_THAT(output, HasSubstr(why));
  }
};

TEST_F(ReplayRun, MakesTheChildrenOfTheRunThatWasRecorded) {
  ASSERT_EQ(Run(RunArguments(3)), 0) << Output();
  ASSERT_EQ(Run(ReplayArguments(3, {"--replay-missing", "stop"})), 0) << Output();
  EXPECT_THAT(Output(), HasSubstr("nothing is compiled or measured"));
  EXPECT_EQ(Children(1, Copy()), Children(1));
  const History recorded(Database());
  const History replayed(Copy());
  EXPECT_EQ(replayed.FindRun(1).record.device_name, recorded.FindRun(1).record.device_name);
  EXPECT_THAT(replayed.FindRun(1).status_message, HasSubstr("replayed; 0 of"));
  ASSERT_TRUE(replayed.Best(1));
  EXPECT_EQ(replayed.Best(1)->candidate.id, recorded.Best(1)->candidate.id);
  EXPECT_EQ(replayed.Best(1)->evaluation.score_ns, recorded.Best(1)->evaluation.score_ns);
  ASSERT_TRUE(replayed.Best(1)->check) << "the champion's check was recorded, too";
  // A replay that is resumed stays a replay.
  ASSERT_EQ(Run(ReplayArguments(1, {"--no-check"})), 0) << Output();
  ASSERT_EQ(Run({"run", "--resume", "2", "--generations", "3", "--db", Copy()}), 0) << Output();
  EXPECT_EQ(Children(2, Copy()), Children(1));
}

TEST_F(ReplayRun, OfAnotherSeedStaysWithinWhatIsRecorded) {
  ASSERT_EQ(Run(RunArguments(3)), 0) << Output();
  ASSERT_EQ(Run(ReplayArguments(3, {"--seed", "77", "--population-kind", "random", "--evaluations", "5"})), 0) << Output();
  std::set<std::string> sources;
  for (const CandidateRecord& record : History(Database()).Candidates(1, {})) sources.insert(record.evaluation.source_digest);
  const auto replayed = History(Copy()).Candidates(1, {});
  int evaluations = 0;
  for (const CandidateRecord& record : replayed) {
    EXPECT_TRUE(sources.contains(record.evaluation.source_digest));
    evaluations += record.candidate.op == "minimise" ? 0 : 1;  // its trials are not counted, as in every run
  }
  EXPECT_LE(evaluations, 5);
}

TEST_F(ReplayRun, IsRefusedInOneLineWhereThereIsNothingToReplay) {
  Refused(ReplayArguments(1), "evo.db");
  ASSERT_EQ(Run(RunArguments(0)), 0) << Output();
  std::vector<std::string> other = ReplayArguments(1);
  other[2] = (ShareDirectory() / "adversarial_kernels" / "tasks" / "row_softmax").string();
  Refused(other, "it has no run of task row_softmax, but runs of reverse_sum");
  Refused(ReplayArguments(1, {"--l2", "cold"}), "leave out --device, --arch and --l2");
  Refused(ReplayArguments(1, {"--device", "cuda"}), "leave out --device, --arch and --l2");
  Refused(ReplayArguments(1, {"--replay-runs", "9"}), "there is no recorded run 9");
  Refused(ReplayArguments(1, {"--resume"}), "--resume");
  Refused({"run", "--replay-missing", "stop", "--db", Copy()}, "--replay");
  Refused(ReplayArguments(1, {"--population-kind", "random", "--operators", "adaptive"}), "--operators adaptive");
  Refused(ReplayArguments(1, {"--only-mutators", "nosuch"}), "nosuch");
  Refused(ReplayArguments(1, {"--only-mutators", "edits", "--without-mutators", "edits"}), "leave no mutator");
  Change("PRAGMA foreign_keys = OFF; DELETE FROM evaluation");
  Refused(ReplayArguments(1), "run 1, candidate 1: its evaluation is missing", 1);
  Change("PRAGMA foreign_keys = ON; DELETE FROM generation; DELETE FROM candidate");
  Refused(ReplayArguments(1), "no evaluations yet");
  Change("UPDATE run SET tool_version = '0.0.1'");
  Refused(ReplayArguments(1), "recorded by evo 0.0.1");
  Change("UPDATE run SET task_digest = 'another'");
  Refused(ReplayArguments(1), "another task.json or reference");
  Change("DELETE FROM run");
  Refused(ReplayArguments(1), "no recorded run at all");
  EXPECT_FALSE(fs::exists(Copy()));
}

TEST_F(ReplayRun, ASecondRunStartsWithTheRewardsOfTheFirstAndIsReplayedWithThem) {
  ASSERT_EQ(Run(RunArguments(3)), 0) << Output();
  EXPECT_TRUE(OptionsOf(1).at("rewards").empty());
  std::vector<std::string> second = RunArguments(3);
  second.insert(second.end(), {"--seed", "5"});
  ASSERT_EQ(Run(second), 0) << Output();
  const nlohmann::json rewards = OptionsOf(2).at("rewards");
  ASSERT_FALSE(rewards.empty());
  double tries = 0;
  for (const auto& [op, reward] : rewards.items()) tries += reward.at(0).get<double>();
  double children = 0;
  for (const CandidateRecord& record : History(Database()).Candidates(1, {})) {
    const std::string& op = record.candidate.op;
    // Neither is an operator that a run draws: a combination does not say which of its edits won.
    children += record.candidate.parents.empty() || op == "minimise" || op == "combine" ? 0 : 1;
  }
  EXPECT_EQ(tries, children);
  // The best kernels of two runs can be timed against each other.
  ASSERT_EQ(Run({"verify", "--db", Database(), "--run", "2", "--against", Database(), "--against-run", "1"}), 0) << Output();
  EXPECT_THAT(Output(), HasSubstr("times as fast in interleaved timing"));
  Refused({"verify", "--db", Database(), "--against", Database(), "--against-run", "9"}, "there is no run 9");
  Refused({"verify", "--db", Database(), "--against-run", "1"}, "--against");
  second.push_back("--no-reuse");
  ASSERT_EQ(Run(second), 0) << Output();
  EXPECT_FALSE(OptionsOf(3).contains("rewards"));
  ASSERT_EQ(Run(ReplayArguments(3, {"--seed", "5", "--replay-runs", "2", "--replay-missing", "stop"})), 0) << Output();
  EXPECT_EQ(Children(1, Copy()), Children(2));
}

}  // namespace
}  // namespace evo
