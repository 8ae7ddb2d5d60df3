#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>

#include "core/error.h"
#include "evaluator/compiler/nvrtc/nvrtc_compiler.h"
#include "evaluator/device/cuda/cuda_device.h"
#include "mutators/breeding/breeding_station.h"
#include "tests/foreign_kernels/foreign_run.h"
#include "tests/mutators/candidate_input.h"
#include "tests/mutators/mutating.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

// "blind_product_01_scaled_in_place" for a file of the folder blind_product.
std::string NameOf(const fs::path& file) { return file.parent_path().filename().string() + "_" + file.stem().string(); }

// Every kernel of the tests that no template resembles, and what each mutator makes of it, on a GPU: what they leave is compared.
class ForeignKernelsOnCuda : public testing::TestWithParam<fs::path> {
 protected:
  static void SetUpTestSuite() {
    try {
      const fs::path root = CudaRoot().value_or("/usr/local/cuda");
      compiler_ = std::make_unique<NvrtcCompiler>(NvrtcPaths{
          root, ShareDirectory() / "nvrtc", fs::temp_directory_path() / fmt::format("evo_foreign_test_{}", ::getpid())});
      device_ = std::make_unique<CudaDevice>(CudaDeviceOptions{0, root, CudaUse::kTool}, *compiler_);
    } catch (const Error& error) {
      missing_ = error.what();
    }
  }
  static void TearDownTestSuite() {
    device_.reset();
    compiler_.reset();
  }
  void SetUp() override {
    ASSERT_EQ(missing_, "");
    text_ = LoadTemplate(GetParam()).text;
    parent_.source = Parent(ParseTemplate("kernel", text_)).rendering.source;
  }

  struct Compiled {
    std::string source;
    CompileResult result;
  };

  static void Compile(const std::string& source, Compiled& compiled) {
    compiled = {source, compiler_->Compile(CandidateInput(source))};
    ASSERT_EQ(compiled.result.outcome, Outcome::kOk) << compiled.result.message << "\n" << source;
  }

  // What the kernel itself leaves. It is compiled anew where sizes are compiled in.
  std::vector<double> Expected(const Task& task) {
    const auto size_macros = ParseTemplate("kernel", parent_.source).size_macros;
    if (parent_.result.program.image.empty() || !size_macros.empty())
      parent_.result = compiler_->Compile(CandidateInput(RenderSizes(parent_.source, ValuesFor(size_macros, task.small.sizes))));
    EXPECT_EQ(parent_.result.outcome, Outcome::kOk) << parent_.result.message << "\n" << parent_.source;
    if (parent_.result.outcome != Outcome::kOk) return {};
    return ForeignOutputs(*device_, text_, task, parent_.source, parent_.result, 0);
  }

  // The first and the last child of every mutator that promises something, of those that bring parameters or of the others.
  void CheckChildren(bool bring) {
    const MutatorSet mutators;
    for (const auto& mutator : mutators.all()) {
      const auto* changes = dynamic_cast<const SourceMutator*>(mutator.get());
      if (changes == nullptr || mutator->promise() == Promise::kUnproven) continue;
      const Parent parent(ParseTemplate("kernel", text_));
      const auto proposals = changes->Proposals(parent.Context());
      if (proposals.empty()) continue;
      CheckChild(*changes, proposals.front(), bring);
      if (proposals.size() > 1 && !HasFatalFailure()) CheckChild(*changes, proposals.back(), bring);
      if (HasFatalFailure()) return;
    }
  }

  void CheckChild(const SourceMutator& mutator, const Proposal& proposal, bool bring) {
    Parent parent(ParseTemplate("kernel", text_));
    parent.genome.edits = {mutator.EditOf(parent.Context(), proposal)};
    const auto& brings = parent.genome.edits[0].brings;
    if (brings.empty() == bring) return;
    SCOPED_TRACE(mutator.name());
    for (const BroughtParameter& brought : brings) parent.genome.parameters[brought.name] = brought.initial;
    parent.Render();
    const std::string child = parent.rendering.source;
    const auto size_macros = ParseTemplate("child", child).size_macros;
    Compiled made;
    for (const Task& task : TasksOf(text_)) {
      if (made.source.empty() || !size_macros.empty()) {
        ASSERT_NO_FATAL_FAILURE(Compile(RenderSizes(child, ValuesFor(size_macros, task.small.sizes)), made));
      }
      const auto expected = Expected(task);
      const auto stored = ForeignOutputs(*device_, text_, task, made.source, made.result, 0);
      // Which products and sums nvcc contracts may differ whatever a mutator promises.
      EXPECT_EQ(Differences(expected, stored, ToleranceOf(text_)), 0) << made.source;
      // After a fault nothing more can be run in this process.
      ASSERT_FALSE(stored.empty());
    }
    std::cout << fmt::format("right: {} {}", mutator.name(), NameOf(GetParam())) << std::endl;
  }

  // A child of a child, and so on, as a search makes them: of every mutator that promises something, by their weights.
  void Walk(std::uint64_t seed) {
    const KernelTemplate kernel = ParseTemplate("kernel", text_);
    BreedingStation station({kernel}, TestPaths());
    const MutatorSet mutators;
    auto operators = mutators.DefaultOperators();
    std::erase_if(operators, [&](const auto& op) { return mutators.Find(op.first)->promise() == Promise::kUnproven; });
    BredChild child;
    child.genome = DefaultGenome(kernel);
    std::string steps;
    for (int step = 0; step < kSteps; ++step) {
      BreedRequest request;
      request.parents = {*child.genome};
      request.operators = operators;
      request.seed = seed;
      request.generation = static_cast<std::uint64_t>(step);
      BredChild next = station.Breed(request);
      if (!next.genome) break;
      child = std::move(next);
      steps += (steps.empty() ? "" : ", ") + child.op;
    }
    if (!steps.empty()) CheckWalked(child.source, steps);
  }

  // A child may need more than a GPU has, which a search finds out.
  void CheckWalked(const std::string& child, const std::string& steps) {
    SCOPED_TRACE(steps);
    const auto say = [&](const std::string& what) {
      std::cout << fmt::format("{}: {} of {}", what, steps, NameOf(GetParam())) << std::endl;
    };
    const auto size_macros = ParseTemplate("child", child).size_macros;
    for (const Task& task : TasksOf(text_)) {
      const std::string source = RenderSizes(child, ValuesFor(size_macros, task.small.sizes));
      const CompileResult compiled = compiler_->Compile(CandidateInput(source));
      if (compiled.outcome != Outcome::kOk) return say("not compiled, " + compiled.message);
      const auto expected = Expected(task);
      const ForeignResult result = RunForeign(*device_, text_, task, source, compiled, 0);
      if (!result.status.ok()) say("not run, " + result.status.message);
      const bool beyond_limits =
          result.status.outcome == Outcome::kResourceLimit || result.status.outcome == Outcome::kLaunchError;
      if (beyond_limits) return;
      ASSERT_TRUE(result.status.ok()) << source;
      ASSERT_EQ(Differences(expected, result.outputs, ToleranceOf(text_)), 0) << source;
    }
    say("right");
  }

  static constexpr int kSteps = 4;
  static inline std::unique_ptr<NvrtcCompiler> compiler_;
  static inline std::unique_ptr<CudaDevice> device_;
  static inline std::string missing_;
  std::string text_;
  Compiled parent_;
};

TEST_P(ForeignKernelsOnCuda, ChildrenWithParameters) { CheckChildren(true); }
TEST_P(ForeignKernelsOnCuda, ChildrenWithoutParameters) { CheckChildren(false); }

TEST_P(ForeignKernelsOnCuda, ChildrenOfChildren) {
  for (std::uint64_t seed = 1; seed <= 6 && !HasFatalFailure(); ++seed) Walk(seed);
}

std::vector<fs::path> AllKernels() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(ShareDirectory() / "foreign_kernels")) {
    if (entry.path().extension() == ".cu") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

INSTANTIATE_TEST_SUITE_P(Of, ForeignKernelsOnCuda, testing::ValuesIn(AllKernels()),
                         [](const auto& file) { return NameOf(file.param); });

}  // namespace
}  // namespace evo
