#include "cli/batch_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evo {
namespace {

using ::testing::HasSubstr;

BatchJob JobOf(std::vector<std::string> command) {
  BatchJob job;
  job.command = std::move(command);
  return job;
}

TEST(BatchScript, RunsTheCommandWithTheTimeThatItNeeds) {
  BatchJob job = JobOf({"/opt/evo 2/bin/evo", "run", "-D", "N=it's"});
  job.seconds = 7200;
  const std::string script = BatchScript(job);
  EXPECT_TRUE(script.starts_with("#!/bin/bash\n"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --time=2:15:00\n"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --signal=B:TERM@60\n#SBATCH --no-kill\n"));
  EXPECT_THAT(script, HasSubstr("\nexec '/opt/evo 2/bin/evo' run -D 'N=it'\\''s'\n"));
  EXPECT_THAT(BatchScript(JobOf({"evo"})), HasSubstr("#SBATCH --time=4:00:00\n"));
}

TEST(BatchScript, PutsThePackageOnEachNodeWhereItIsAskedTo) {
  BatchJob job = JobOf({"/opt/evo 2/bin/evo", "run"});
  job.broadcast = Broadcast{"/opt/evo 2", "/scratch"};
  const std::string script = BatchScript(job);
  EXPECT_THAT(script, HasSubstr("\nevo=/scratch/evo-$SLURM_JOB_ID\n"));
  EXPECT_THAT(script, HasSubstr("tar -C '/opt/evo 2' -chf"));
  EXPECT_THAT(script, HasSubstr("\n\"$evo/bin/evo\" run &\n"));
}

// What it is told before its end, and what makes it wait again, must not be what cancels it.
TEST(BatchScript, ThatIsRequeuedGoesOnWithTheRunOfItsDatabase) {
  BatchJob job = JobOf({"evo", "run", "--task", "gemm", "--db", "my runs.db"});
  job.requeue = true;
  job.database = "my runs.db";
  const std::string script = BatchScript(job);
  EXPECT_THAT(script, HasSubstr("#SBATCH --signal=B:USR1@60\n#SBATCH --requeue\n#SBATCH --open-mode=append\n"));
  EXPECT_THAT(script, HasSubstr("\nset -- evo run --task gemm --db 'my runs.db'\n"));
  EXPECT_THAT(script, HasSubstr("history --runs --db 'my runs.db' >"));
  EXPECT_THAT(script, HasSubstr("\n  set -- evo run --task gemm --db 'my runs.db' --resume\n"));
  EXPECT_THAT(script, HasSubstr("&& scontrol requeue"));
}

TEST(BatchScript, ARunThatGoesOnKeepsItsShapes) {
  BatchJob job = JobOf({"evo", "run", "--shape", "N=4", "--shape=N=5", "--seed", "2"});
  job.requeue = true;
  EXPECT_THAT(BatchScript(job), HasSubstr("\n  set -- evo run --seed 2 --resume\n"));
  job.command = {"evo", "run", "--resume", "7"};
  EXPECT_THAT(BatchScript(job), HasSubstr("\n  set -- evo run --resume 7\n"));
}

TEST(BatchScript, ThatIsRequeuedGivesItsCopyBackFirst) {
  BatchJob job = JobOf({"/opt/evo/bin/evo", "run"});
  job.broadcast = Broadcast{"/opt/evo", "/scratch"};
  job.requeue = true;
  const std::string script = BatchScript(job);
  EXPECT_LT(script.rfind("GiveBack\n"), script.find("scontrol requeue"));
  EXPECT_THAT(script, HasSubstr("\nset -- \"$evo/bin/evo\" run\n"));
}

}  // namespace
}  // namespace evo
