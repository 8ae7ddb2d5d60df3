#include "cli/executor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/error.h"

namespace evo {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using Words = std::vector<std::string>;

Variable Of(const std::map<std::string, std::string>& set) {
  return [set](const std::string& name) {
    const auto found = set.find(name);
    return found == set.end() ? std::nullopt : std::optional(found->second);
  };
}

template <class F>
std::string Refusal(const F& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

WantedWorkers Wanted(const std::string& executor) {
  WantedWorkers wanted;
  wanted.options.executor = executor;
  wanted.program = "/opt/evo 2/bin/evo-worker";
  return wanted;
}

TEST(Allocation, IsReadFromSlurmsVariables) {
  EXPECT_EQ(ReadAllocation(Of({})), std::nullopt);
  const auto total = ReadAllocation(Of({{"SLURM_JOB_ID", "7"},
                                        {"SLURM_JOB_NUM_NODES", "4"},
                                        {"SLURM_JOB_CPUS_PER_NODE", "8(x3),4"},
                                        {"SLURM_GPUS", "h100:6,a100:1"},
                                        {"SLURM_GPUS_ON_NODE", "2"}}));
  ASSERT_TRUE(total);
  EXPECT_EQ(total->nodes, 4);
  EXPECT_EQ(total->cpus, 28);
  EXPECT_EQ(total->gpus, 7);
}

TEST(Allocation, GpusOfEachNodeAreAddedUp) {
  EXPECT_EQ(ReadAllocation(Of({{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NUM_NODES", "2"}, {"SLURM_GPUS_PER_NODE", "h100:4"}}))->gpus,
            8);
  EXPECT_EQ(ReadAllocation(Of({{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NUM_NODES", "2"}, {"SLURM_GPUS_ON_NODE", "3"}}))->gpus, 6);
  EXPECT_EQ(ReadAllocation(Of({{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "3"}, {"SLURM_GPUS_PER_TASK", "2"}}))->gpus, 6);
  EXPECT_EQ(ReadAllocation(Of({{"SLURM_JOB_ID", "7"}}))->gpus, 0);
}

TEST(Allocation, AVariableThatSlurmDidNotSetIsNamed) {
  for (const char* odd : {"many", "8(x", "8(3)", "-1", "8(x)", ""})
    EXPECT_THAT(Refusal([&] {
                  ReadAllocation(Of({{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NUM_NODES", odd}}));
                }),
                HasSubstr("SLURM_JOB_NUM_NODES"))
        << odd;
  EXPECT_THAT(Refusal([] {
                ReadAllocation(Of({{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_CPUS_PER_NODE", "8(x"}}));
              }),
              HasSubstr("SLURM_JOB_CPUS_PER_NODE is '8(x'"));
}

TEST(Slurm, EachGpuHasAStepOfItsOwn) {
  const LaunchedCommands commands = SlurmCommands(Wanted("slurm"), {2, 4, 32});
  ASSERT_THAT(commands.run, SizeIs(4));
  EXPECT_EQ(fmt::format("{}", fmt::join(commands.run[3], " ")),
            "env -u SLURM_GPUS_PER_NODE -u SLURM_GPUS_PER_TASK srun -u -Q -n1 -N1 -c1 --mem=0 --gpus=1 --exact --immediate=20 "
            "/opt/evo 2/bin/evo-worker --launched");
  EXPECT_THAT(commands.ordinals, ElementsAre(0, 0, 0, 0)) << "Slurm shows each step its GPU alone";
}

TEST(Slurm, CompileWorkersTakeTheOtherProcessorsOfSeveralNodes) {
  const LaunchedCommands commands = SlurmCommands(Wanted("slurm"), {2, 4, 32});
  ASSERT_THAT(commands.compile, SizeIs(28));
  EXPECT_THAT(commands.compile[0], Contains("--gres=none"));
  EXPECT_THAT(commands.compile[0], Not(Contains("--gpus=1")));
  WantedWorkers few = Wanted("slurm");
  few.compile_workers = 5;
  EXPECT_THAT(SlurmCommands(few, {2, 4, 32}).compile, SizeIs(5));
}

TEST(Slurm, OnOneNodeCompileWorkersAreChildrenOfEvo) {
  EXPECT_THAT(SlurmCommands(Wanted("slurm"), {1, 4, 32}).compile, IsEmpty());
}

// The check of a champion needs a process of its own while every GPU has a step.
TEST(Slurm, AFreshProcessSharesWhatAStepHas) {
  const LaunchedCommands commands = SlurmCommands(Wanted("slurm"), {1, 1, 8});
  EXPECT_THAT(commands.fresh, Contains("--overlap"));
  EXPECT_THAT(commands.fresh, Not(Contains("--exact")));
}

TEST(Slurm, WithoutGpusStepsAreSpreadOverTheNodes) {
  WantedWorkers wanted = Wanted("slurm");
  wanted.gpus = false;
  wanted.options.run_workers = 3;
  const LaunchedCommands commands = SlurmCommands(wanted, {2, 0, 8});
  ASSERT_THAT(commands.run, SizeIs(3));
  EXPECT_THAT(commands.run[1], Contains("--relative=1"));
  EXPECT_THAT(commands.run[2], Contains("--relative=0"));
  EXPECT_THAT(commands.run, Each(Contains("--gres=none")));
}

TEST(Slurm, AnAllocationWithTooFewGpusIsRefused) {
  EXPECT_THAT(Refusal([] { SlurmCommands(Wanted("slurm"), {1, 0, 8}); }), HasSubstr("the allocation has no GPU"));
  WantedWorkers many = Wanted("slurm");
  many.options.run_workers = 3;
  EXPECT_EQ(Refusal([&] { SlurmCommands(many, {1, 2, 8}); }), "--run-workers 3: the allocation has 2 GPUs");
}

TEST(Slurm, WordsOfTheUserReplaceThoseOfTheExecutor) {
  WantedWorkers wanted = Wanted("slurm");
  wanted.options.run_launcher = "srun -u  --my-flag";
  wanted.options.compile_launcher = "nice";
  const LaunchedCommands commands = SlurmCommands(wanted, {1, 1, 2});
  EXPECT_THAT(commands.run, ElementsAre(Words{"srun", "-u", "--my-flag", wanted.program, "--launched"}));
  EXPECT_THAT(commands.compile, ElementsAre(Words{"nice", wanted.program, "--launched"}));
  EXPECT_THAT(commands.fresh, IsEmpty());
}

TEST(Hosts, AreReadWithTheirGpusAndCores) {
  const std::vector<RemoteHost> hosts = ParseHosts("# ours\nnode1 4 32\n\n  user@node2 2 16  # the old one\n", "hosts");
  ASSERT_THAT(hosts, SizeIs(2));
  EXPECT_EQ(hosts[1].name, "user@node2");
  EXPECT_EQ(hosts[1].gpus, 2);
  EXPECT_EQ(hosts[1].cores, 16);
}

TEST(Hosts, ALineThatIsNotOneIsNamed) {
  const auto refusal = [](const char* text) { return Refusal([&] { ParseHosts(text, "hosts"); }); };
  EXPECT_THAT(refusal("node1 4 32\nnode2 4\n"), HasSubstr("--hosts hosts:2: give HOST GPUS CORES"));
  EXPECT_THAT(refusal("node1 four 32"), HasSubstr("hosts:1"));
  EXPECT_THAT(refusal("node1 -4 32"), HasSubstr("hosts:1"));
  EXPECT_THAT(refusal("-oProxyCommand=x 4 32"), HasSubstr("hosts:1")) << "ssh would take it for an option";
  EXPECT_THAT(refusal("node1 4 32\nnode1 4 32"), HasSubstr("hosts:2: node1 stands there twice"));
  EXPECT_THAT(refusal("# none\n"), HasSubstr("it names no host"));
}

TEST(Ssh, EachGpuOfAHostHasARunWorkerAndEachOtherCoreACompileWorker) {
  const LaunchedCommands commands = SshCommands(Wanted("ssh"), {{"a", 2, 4}, {"b", 1, 2}});
  ASSERT_THAT(commands.run, SizeIs(3));
  EXPECT_THAT(commands.ordinals, ElementsAre(0, 0, 1));
  EXPECT_EQ(commands.run[0].front(), "ssh");
  EXPECT_THAT(commands.run[0], Contains("BatchMode=yes"));
  EXPECT_THAT(commands.run[0], Contains("ConnectTimeout=15"));
  EXPECT_EQ(commands.run[0].at(commands.run[0].size() - 2), "a");
  EXPECT_EQ(commands.run[1].at(commands.run[1].size() - 2), "b");
  EXPECT_EQ(commands.run[2].back(), "exec '/opt/evo 2/bin/evo-worker' --launched");
  EXPECT_THAT(commands.run_hosts, ElementsAre("a", "b", "a"));
  EXPECT_THAT(commands.compile_hosts, ElementsAre("a", "b", "a"));
  EXPECT_THAT(commands.compile, SizeIs(3));
}

TEST(Ssh, AnotherCommandTakesTheHostAsWell) {
  WantedWorkers wanted = Wanted("ssh");
  wanted.options.run_launcher = "ssh -F conf";
  wanted.compile_workers = 1;
  const LaunchedCommands commands = SshCommands(wanted, {{"a", 1, 4}});
  EXPECT_THAT(commands.run.front(), ElementsAre("ssh", "-F", "conf", "a", "exec '/opt/evo 2/bin/evo-worker' --launched"));
  EXPECT_THAT(commands.compile, ElementsAre(commands.run.front()));
}

TEST(Ssh, HostsWithoutEnoughGpusAreRefused) {
  EXPECT_THAT(Refusal([] { SshCommands(Wanted("ssh"), {{"a", 0, 4}}); }), HasSubstr("the hosts have no GPU"));
}

}  // namespace
}  // namespace evo
