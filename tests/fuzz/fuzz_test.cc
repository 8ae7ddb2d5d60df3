// Every parser of what evo does not trust, on its seeds and on random changes of them, the same in every run. scripts/fuzz runs
// the same targets for hours, led by coverage and with sanitizers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/digest.h"
#include "core/rng.h"
#include "platform/command.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/targets.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

constexpr int kInputs = 3000;

std::vector<std::string> Seeds(std::string_view target) {
  std::vector<fs::path> files;
  for (const auto& file : fs::directory_iterator(fs::path(EVO_FUZZ_CORPUS) / target)) files.push_back(file.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> texts;
  for (const fs::path& file : files) texts.push_back(ReadFile(file));
  return texts;
}

class FuzzTargets : public ::testing::TestWithParam<FuzzTarget> {};

TEST_P(FuzzTargets, WithstandRandomChangesOfTheirSeeds) {
  const std::vector<std::string> seeds = Seeds(GetParam().name);
  ASSERT_FALSE(seeds.empty());
  Rng rng(16);
  for (int i = 0; i < kInputs; ++i) {
    const std::string text =
        i < static_cast<int>(seeds.size()) ? seeds[i] : MutateText(seeds[rng.Below(seeds.size())], seeds, rng);
    try {
      GetParam().run(text);
    } catch (const std::exception& error) {
      FAIL() << "input " << i << ": " << error.what() << "\n" << text.substr(0, 2000);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, FuzzTargets, ::testing::ValuesIn(evo::FuzzTargets().begin(), evo::FuzzTargets().end()),
                         [](const auto& target) { return std::string(target.param.name); });

TEST(FuzzCorpus, HasOnlyFoldersOfTargets) {
  for (const auto& folder : fs::directory_iterator(EVO_FUZZ_CORPUS))
    EXPECT_NE(FindFuzzTarget(folder.path().filename().string()), nullptr) << folder.path();
}

}  // namespace
}  // namespace evo
