// Allocations that end before their run does: by their time limit, or because another job takes their nodes. The run ends in
// order or is killed; in both cases its database is whole, and it goes on with the decisions that it would have made.
#include "tests/cluster/slurm_run.h"

namespace evo {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Of one generation, on a busy machine.
constexpr seconds kGeneration{60};
// Slurm looks at time limits every 30 s, and sends the signal a minute before the end.
constexpr seconds kTimeLimit{180};
constexpr seconds kRequeue{90};

class EndedAllocation : public SlurmRun {
 protected:
  bool Prints(const std::string& text, milliseconds time) const {
    return Within(time, [&] { return JobOutput().find(text) != std::string::npos; });
  }
  // "JobState" and others, as Slurm tells them.
  static std::string Fact(const std::string& job, const std::string& name) {
    std::istringstream words(Printed("scontrol -o show job " + job));
    for (std::string word; words >> word;) {
      if (word.starts_with(name + "=")) return word.substr(name.size() + 1);
    }
    return "";
  }
  RunStatus Status() const { return History(Database()).FindRun(1).status; }

  void ExpectWhole() const {
    EXPECT_EQ(IntegrityCheck(), "ok");
    EXPECT_THAT(Charged(), IsEmpty());
    EXPECT_TRUE(NoWorkersWithin(seconds(10)));
    EXPECT_TRUE(NoJobsWithin(seconds(20))) << Jobs();
  }
  // In another allocation, with another number of workers.
  void ExpectGoesOnWithTheSameDecisions() {
    const int generations = Generations() + 2;
    Words arguments = ArgumentsOf({"--executor", "slurm", "--no-check", "--resume"}, generations);
    *(std::find(arguments.begin(), arguments.end(), "--run-workers") + 1) = "2";
    EXPECT_EQ(Wait(StartAllocated(arguments)), 0) << Output();
    EXPECT_EQ(Status(), RunStatus::kFinished);
    EXPECT_EQ(Generations(), generations);
    EXPECT_THAT(LeftInTemporary(), IsEmpty());
    ExpectChildrenOfAReplay(generations, kLongTask);
  }
};

TEST_F(EndedAllocation, ByItsTimeLimitEndsTheRunInOrder) {
  const std::string job = Submit(PrintedScript(LongRun({"--executor", "slurm"})), "");
  ASSERT_TRUE(Prints("generation 1", kGeneration)) << JobOutput();
  int hours = 0, minutes = 0, before = 0;
  ASSERT_EQ(std::sscanf(Fact(job, "RunTime").c_str(), "%d:%d:%d", &hours, &minutes, &before), 3);
  // Not so short that the job is killed before it is told.
  const int limit = minutes + (before > 20 ? 3 : 2);
  EXPECT_EQ(Printed(fmt::format("scontrol update JobId={} TimeLimit={}", job, limit)), "");
  EXPECT_TRUE(Prints("goes on with it", kTimeLimit)) << JobOutput();
  EXPECT_THAT(JobOutput(), HasSubstr("`evo run --resume 1 --db " + Database() + " --executor slurm` goes on with it"));
  ExpectWhole();
  EXPECT_EQ(Fact(job, "ExitCode"), "130:0");
  EXPECT_EQ(Status(), RunStatus::kInterrupted);
  ExpectGoesOnWithTheSameDecisions();
}

// Two partitions: jobs of one take the nodes of the other's, which have some seconds to end.
class PreemptedAllocation : public EndedAllocation {
 protected:
  Words MoreOfConf() const override {
    // A job that was requeued waits until its credentials are over, by default two minutes.
    return {"PreemptType=preempt/partition_prio", "PreemptMode=" + Mode(), "AuthInfo=cred_expire=5",
            "PartitionName=low Nodes=ALL PriorityTier=1 GraceTime=6 State=UP PreemptMode=" + Mode(),
            "PartitionName=urgent Nodes=ALL PriorityTier=2 PreemptMode=OFF State=UP"};
  }
  virtual std::string Mode() const { return "REQUEUE"; }

  // The script as it is printed is run twice.
  void ExpectTheJobGoesOn() {
    const std::string job = Submit(PrintedScript(LongRun({"--executor", "slurm", "--requeue"})), "-p low");
    ASSERT_TRUE(Prints("generation 1", kGeneration)) << JobOutput();
    const int before = Generations();
    EXPECT_FALSE(Printed("sbatch --parsable -p urgent -N3 -c4 --ntasks-per-node=1 -o /dev/null --wrap 'sleep 2'").empty());
    ASSERT_TRUE(Within(kRequeue, [&] { return Fact(job, "Restarts") == "1" && Fact(job, "JobState") == "RUNNING"; }))
        << Fact(job, "JobState") << JobOutput();
    EXPECT_GE(Generations(), before) << "no row is lost";
    EXPECT_TRUE(MoreGenerationsWithin(2 * kGeneration)) << JobOutput();
    EXPECT_EQ(History(Database()).Runs().size(), 1U);
    // Who cancels a job does not want it to come back.
    Printed("scancel " + job);
    EXPECT_TRUE(NoJobsWithin(seconds(30))) << Jobs();
    EXPECT_EQ(Fact(job, "JobState"), "CANCELLED");
    ExpectWhole();
  }
};

// It is not told: its steps are ended at once, and the rest when the time is over.
TEST_F(PreemptedAllocation, IsRequeuedBySlurmAndGoesOn) {
  ExpectTheJobGoesOn();
  ExpectGoesOnWithTheSameDecisions();
}

// It is told, ends the run and waits again of its own accord: Slurm would cancel it.
class AnnouncedPreemption : public PreemptedAllocation {
 protected:
  std::string Mode() const override { return "CANCEL"; }
  Words MoreOfConf() const override {
    Words lines = PreemptedAllocation::MoreOfConf();
    lines.emplace_back("SlurmctldParameters=preempt_send_user_signal");
    return lines;
  }
};

TEST_F(AnnouncedPreemption, LetsTheJobWaitAgainOfItsOwnAccord) {
  ExpectTheJobGoesOn();
  EXPECT_THAT(JobOutput(), HasSubstr("goes on with it"));
}

// Without --requeue it is over, and says how its run goes on.
TEST_F(AnnouncedPreemption, EndsTheRunInOrder) {
  std::string script = PrintedScript(LongRun({"--executor", "slurm"}));
  const std::string job = Submit(script, "-p low --no-requeue");
  ASSERT_TRUE(Prints("generation 1", kGeneration)) << JobOutput();
  EXPECT_FALSE(Printed("sbatch --parsable -p urgent -N3 -c4 --ntasks-per-node=1 -o /dev/null --wrap 'sleep 2'").empty());
  EXPECT_TRUE(Prints("goes on with it", kRequeue)) << JobOutput();
  ExpectWhole();
  EXPECT_EQ(Fact(job, "ExitCode"), "130:0");
  EXPECT_EQ(Fact(job, "Restarts"), "0");
  EXPECT_EQ(Status(), RunStatus::kInterrupted);
  ExpectGoesOnWithTheSameDecisions();
}

}  // namespace
}  // namespace evo
