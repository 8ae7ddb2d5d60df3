// Every template of the tasks that come with evo, and of those that its tests run, has launch lines that fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "import/launch_check.h"
#include "tests/syntax/parsing.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

class LaunchCheckTasks : public ::testing::TestWithParam<std::string> {};

TEST_P(LaunchCheckTasks, EveryTemplateFits) {
  const std::vector<fs::path> folders = FindTasks({fs::path(EVO_SOURCE_ROOT) / GetParam()});
  EXPECT_FALSE(folders.empty());
  for (const fs::path& folder : folders) {
    const Task task = LoadTask(folder);
    for (const KernelTemplate& one : LoadTemplates(folder)) {
      auto objection = CheckNames(one, task);
      if (!objection) objection = CheckLaunches(one, task, ReadSignatures(one.text, SharedParser()));
      EXPECT_FALSE(objection) << PlaceOf(one, objection->line) << ": " << objection->what;
    }
    if (task.reference_kind != ReferenceKind::kKernels) continue;
    Task doubles = task;
    for (Argument& argument : doubles.arguments) {
      if (argument.role == Role::kOut || argument.role == Role::kInOut) argument.dtype = Dtype::kF64;
    }
    const KernelTemplate reference = ParseTemplate("reference", task.reference);
    auto objection = CheckNames(reference, doubles);
    if (!objection) objection = CheckLaunches(reference, doubles, ReadSignatures(reference.text, SharedParser()));
    EXPECT_FALSE(objection) << folder << " " << PlaceOf(reference, objection->line) << ": " << objection->what;
  }
}

INSTANTIATE_TEST_SUITE_P(Folders, LaunchCheckTasks,
                         ::testing::Values("kernel_templates", "tests/tasks", "tests/cli/tasks",
                                           "tests/adversarial_kernels/tasks"),
                         [](const auto& given) {
                           std::string name = given.param;
                           for (char& c : name) c = c == '/' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace evo
