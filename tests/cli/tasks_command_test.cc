#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>

#include "cli/commands/commands.h"
#include "core/error.h"
#include "tests/cli/captured_output.h"
#include "tests/db/fixture_run.h"

namespace evo {
namespace {

TEST(TasksCommand, ListsWhatItFinds) {
  CommandContext context;
  context.task_folders = {EVO_TASK_DIR};
  testing::CapturedOutput printed;
  context.out = printed.stream();
  CLI::App app;
  AddTasks(app, context);
  app.parse("tasks");
  EXPECT_EQ(printed.Text(),
            "task   baseline  templates  cases on cuda  cases on cpu  summary\n"
            "scale  scale     scale      small large    small_cpu     y = 2 x\n");
  CommandContext empty;
  for (const char* folder : {"", "/scale", "/scale/task.json"}) {
    testing::CapturedOutput again;
    empty.out = again.stream();
    CLI::App other;
    AddTasks(other, empty);
    other.parse(fmt::format("tasks {}{}", EVO_TASK_DIR, folder));
    EXPECT_EQ(again.Text(), printed.Text());
  }
  CLI::App none;
  AddTasks(none, empty);
  EXPECT_THROW(none.parse(fmt::format("tasks {}/scale/none", EVO_TASK_DIR)), UsageError);
}

TEST(TasksCommand, FindsHeadersInOtherFolders) {
  CommandContext context;
  testing::TemporaryFolder folder;
  std::filesystem::copy(std::filesystem::path(EVO_TASK_DIR) / "scale", folder / "scale");
  std::filesystem::create_directory(folder / "headers");
  std::ofstream(folder / "headers" / "twice.cuh") << "// nothing\n";
  std::ofstream(folder / "scale" / "scale.cu", std::ios::app) << "#include \"twice.cuh\"\n";
  const std::string task = (folder / "scale").string();
  CLI::App without;
  AddTasks(without, context);
  EXPECT_THROW(without.parse("tasks " + task), UsageError);
  testing::CapturedOutput with_header;
  context.out = with_header.stream();
  CLI::App with;
  AddTasks(with, context);
  with.parse(fmt::format("tasks {} --include {}", task, (folder / "headers").string()));
  EXPECT_THAT(with_header.Text(), ::testing::HasSubstr("scale  scale     scale "));
}

}  // namespace
}  // namespace evo
