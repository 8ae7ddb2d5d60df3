#include "cli/manual.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "cli/commands/commands.h"

namespace evo {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Manual : public ::testing::Test {
 protected:
  Manual() {
    for (const auto add : kCommands) add(app_, context_);
    folder_ = std::filesystem::temp_directory_path() / ("evo_manual_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~Manual() override { std::filesystem::remove_all(folder_); }

  // What bash completes at the end of these words.
  std::string Completed(const std::string& words, int at) const {
    const std::string script = (folder_ / "evo.bash").string();
    std::ofstream(script) << BashCompletion(app_);
    const std::string command = "bash -c 'source " + script + " && COMP_WORDS=(" + words +
                                ") && COMP_CWORD=" + std::to_string(at) + " && _evo && echo \"${COMPREPLY[*]}\"' 2>&1";
    std::string output;
    std::FILE* const pipe = ::popen(command.c_str(), "r");
    std::array<char, 4096> buffer{};
    while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) output += buffer.data();
    EXPECT_EQ(::pclose(pipe), 0) << output;
    return output;
  }

  CommandContext context_;
  CLI::App app_{"Evolves CUDA kernels.", "evo"};
  std::filesystem::path folder_;
};

TEST_F(Manual, HasEveryCommandAndEveryFlagOfItsHelp) {
  const std::string all = ManualPage(app_, app_, "1.0");
  for (const CLI::App* command : app_.get_subcommands([](const CLI::App*) { return true; })) {
    EXPECT_THAT(all, HasSubstr("evo " + command->get_name()));
    const std::string page = ManualPage(app_, *command, "1.0");
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        std::string flag = "\\-\\-";
        for (const char c : name) flag += c == '-' ? std::string("\\-") : std::string(1, c);
        EXPECT_THAT(page, HasSubstr(flag)) << command->get_name();
      }
    }
  }
  EXPECT_THAT(ManualPage(app_, *app_.get_subcommand("db"), "1.0"), HasSubstr("evo db merge"));
}

TEST_F(Manual, BashCompletesCommandsFlagsAndValues) {
  EXPECT_EQ(Completed("evo hist", 1), "history\n");
  EXPECT_EQ(Completed("evo history --ru", 2), "--run --runs\n");
  EXPECT_EQ(Completed("evo run --l2 c", 3), "cold\n");
  EXPECT_EQ(Completed("evo db me", 2), "merge\n");
  EXPECT_EQ(Completed("evo db merge --o", 3), "--out\n");
  EXPECT_EQ(Completed("evo check kern", 2), "\n") << "a file: bash completes it itself";
}

TEST_F(Manual, ZshNamesCommandsAndFlags) {
  const std::string script = ZshCompletion(app_);
  EXPECT_THAT(script, HasSubstr("#compdef evo"));
  EXPECT_THAT(script, HasSubstr("'history:Show"));
  EXPECT_THAT(script, HasSubstr("*--timing["));
  EXPECT_THAT(script, HasSubstr(":value:(hot cold)"));
  EXPECT_THAT(script, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace evo
