// Output that cannot be written, and folders that are missing: no command says success.
#include <fcntl.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <signal.h>

#include "tests/run/evo_process.h"

namespace evo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class OutputFaults : public EvoRun {
 protected:
  // A finished run of one generation, without a check.
  void MakeRun() {
    std::vector<std::string> arguments = RunArguments(1);
    arguments.push_back("--no-check");
    ASSERT_EQ(Run(arguments), 0) << Output();
  }
  static void FillStandardOutput() { ::dup2(::open("/dev/full", O_WRONLY), STDOUT_FILENO); }
};

TEST_F(OutputFaults, NoCommandSucceedsIfItsOutputCannotBeWritten) {
  MakeRun();
  const std::vector<std::vector<std::string>> commands = {{"--help"},
                                                          {"run", "--help"},
                                                          {"--version"},
                                                          {"tasks"},
                                                          {"mutators"},
                                                          {"doctor"},
                                                          {"best", "--db", Database()},
                                                          {"best", "--json", "--db", Database()},
                                                          {"show", "1", "--db", Database()},
                                                          {"lineage", "1", "--db", Database()},
                                                          {"diff", "1", "2", "--json", "--db", Database()},
                                                          {"history", "--db", Database()},
                                                          {"history", "--runs", "--db", Database()},
                                                          {"export", "--db", Database()},
                                                          {"verify", "--db", Database()},
                                                          {"run", "--resume", "--no-check", "--db", Database()}};
  for (const std::vector<std::string>& command : commands) {
    EXPECT_EQ(Run(command, FillStandardOutput), 1) << fmt::format("{}", fmt::join(command, " "));
    EXPECT_THAT(Output(), HasSubstr("evo: the output could not be written (No space left on device)\n"))
        << fmt::format("{}", fmt::join(command, " "));
  }
}

TEST_F(OutputFaults, AReaderThatHasGoneIsNoMessage) {
  MakeRun();
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  EXPECT_EQ(Run({"export", "--json", "--db", Database()}, [&] { ::dup2(ends[1], STDOUT_FILENO); }), 141);
  EXPECT_EQ(Output(), "");
  ::close(ends[1]);
}

TEST_F(OutputFaults, ARunNeedsNobodyThatReadsItsMessages) {
  std::vector<std::string> arguments = RunArguments(1);
  arguments.push_back("--no-check");
  EXPECT_EQ(Run(arguments, [] { ::dup2(::open("/dev/full", O_WRONLY), STDERR_FILENO); }), 0) << Output();
  EXPECT_THAT(Output(), HasSubstr("baseline honest"));
  EXPECT_EQ(History(Database()).FindRun(1).status, RunStatus::kFinished);
}

TEST_F(OutputFaults, ARunWithoutDescriptorsIsStoredAndItsOutputMissed) {
  std::vector<std::string> arguments = RunArguments(1);
  arguments.push_back("--no-check");
  EXPECT_EQ(Run(arguments,
                [] {
                  for (const int descriptor : {0, 1, 2}) ::close(descriptor);
                }),
            1);
  EXPECT_EQ(History(Database()).FindRun(1).status, RunStatus::kFinished);
  EXPECT_EQ(IntegrityCheck(), "ok");
  EXPECT_EQ(Run({"--version"}, [] { ::close(STDOUT_FILENO); }), 1);
  EXPECT_THAT(Output(), HasSubstr("(Bad file descriptor)"));
}

TEST_F(OutputFaults, OnlyCommandsWithWorkersNeedAFolderForTemporaryFiles) {
  MakeRun();
  const auto without = [] { ::setenv("TMPDIR", "/none/such", 1); };
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"--version"}, {"--help"}, {"tasks"}, {"best", "--db", Database()}, {"history", "--db", Database()}}) {
    EXPECT_EQ(Run(command, without), 0) << Output();
  }
  EXPECT_EQ(Run({"best", "--export", (folder_ / "kernel.cu").string(), "--db", Database()}, without), 1);
  EXPECT_THAT(Output(), HasSubstr("evo: TMPDIR (/none/such): no folder for temporary files"));
}

TEST_F(OutputFaults, CommandsWithoutWorkersLeaveTheFolderForTemporaryFilesAlone) {
  MakeRun();
  const fs::path temporary = folder_ / "tmp";
  const fs::path own = temporary / "evo-scratch-999999";
  fs::create_directories(temporary / "evo-scratch-999999-mydata");
  fs::create_directories(own);
  std::ofstream(temporary / "evo-scratch-999999-mydata" / "results") << "mine";
  std::ofstream(own / "results") << "mine";
  const auto there = [&] { ::setenv("TMPDIR", temporary.c_str(), 1); };
  EXPECT_EQ(Run({"--version"}, there), 0);
  EXPECT_EQ(Run({"best", "--export", (folder_ / "kernel.cu").string(), "--db", Database()}, there), 0) << Output();
  EXPECT_TRUE(fs::exists(temporary / "evo-scratch-999999-mydata" / "results"));
  EXPECT_TRUE(fs::exists(own / "results"));
  EXPECT_EQ(std::distance(fs::directory_iterator(temporary), {}), 2);
}

TEST_F(OutputFaults, AnExportIsWrittenToWhatIsNamed) {
  MakeRun();
  EXPECT_EQ(Run({"best", "--export", "", "--db", Database()}), 2);
  EXPECT_THAT(Output(), HasSubstr("--export: name a file"));
  const std::string link = (folder_ / "full").string();
  fs::create_symlink("/dev/full", link);
  EXPECT_EQ(Run({"best", "--export", link, "--db", Database()}), 1);
  EXPECT_THAT(Output(), AllOf(HasSubstr("full: cannot be written (No space left on device)"), Not(HasSubstr("written to"))));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  EXPECT_EQ(Run({"best", "--export", link, "--with-host", "--db", Database()}), 2);
  EXPECT_THAT(Output(), HasSubstr("--with-host: "));
  EXPECT_EQ(Run({"best", "--json", "--export", "/dev/stdout", "--db", Database()}), 0) << Output();
  EXPECT_THAT(Output(), AllOf(HasSubstr("\"verdict\""), HasSubstr("evo:launch"))) << "standard output is a file here";
}

}  // namespace
}  // namespace evo
