#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "tests/foreign_kernels/foreign_run.h"
#include "tests/mutators/children_bench.h"

namespace evo {

// What a macro is expected to do with a kernel: apply, or say a text that contains this.
struct ForeignKernel {
  std::string name;  // of the file, without .cu
  std::string refusal = {};
  bool compared = true;  // false for one that only computes what it means if the lanes of a warp take each step together
};

// Kernels in files of their own, as different people write them. Parents and children run on the cpu device on the same numbers;
// what they leave in the buffers is compared.
class ForeignKernelTest : public ChildrenTest {
 protected:
  // How many of a macro's proposals for a kernel are tried.
  std::size_t forms_ = 1;

  // Whether a macro applies to a kernel. If it does, its children must compile for a GPU and do what the parent does, at their
  // first sizes, every access checked; if not, `refusal` gets the reasons.
  bool Applies(const std::string& macro, const std::string& text, std::string& refusal, bool compared = true) {
    const SourceMutator& mutator = SourceMutatorNamed(macro);
    const Parent parent(ParseTemplate("kernel", text));
    for (const std::string& error : parent.tree->errors()) EXPECT_THAT(error, testing::StartsWith("/")) << "not in a header";
    const auto proposals = mutator.Proposals(parent.Context());
    if (proposals.empty()) {
      for (const std::string& why : mutator.Refusals(parent.Context())) refusal += (refusal.empty() ? "" : "; ") + why;
      if (refusal.empty()) refusal = "(silence)";
      return false;
    }
    for (std::size_t i = 0; compared && i < std::min(proposals.size(), forms_); ++i)
      CheckChild(mutator, text, proposals[i], text);
    return true;
  }

  // A child of `text` and the source `other`, which is that or one that computes the same.
  void CheckChild(const SourceMutator& mutator, const std::string& text, const Proposal& proposal, const std::string& other) {
    Parent parent(ParseTemplate("kernel", text));
    const std::string source = Parent(ParseTemplate("kernel", other)).rendering.source;
    parent.genome.edits = {mutator.EditOf(parent.Context(), proposal)};
    for (const BroughtParameter& brought : parent.genome.edits[0].brings)
      parent.genome.parameters[brought.name] = brought.initial;
    parent.Render();
    EXPECT_EQ(parent.rendering.dropped, std::vector<std::string>{});
    const std::string child = parent.rendering.source;
    if (std::getenv("EVO_SHOW_CHILDREN") != nullptr) std::cout << child << std::endl;
    EXPECT_EQ(CompileWith(*nvrtc_, child).message, "") << child;
    const auto own_macros = ParseTemplate("parent", source).size_macros, size_macros = ParseTemplate("child", child).size_macros;
    CompileResult old_code, new_code;
    const double tolerance = mutator.promise() == Promise::kExact ? 0 : ToleranceOf(text);
    for (const Task& task : TasksOf(text)) {
      if (old_code.program.image.empty() || !own_macros.empty()) {
        old_code = CompileWith(*compiler_, RenderSizes(source, ValuesFor(own_macros, task.small.sizes)));
        EXPECT_EQ(old_code.outcome, Outcome::kOk) << old_code.message << "\n" << source;
        if (old_code.outcome != Outcome::kOk) return;
      }
      if (new_code.program.image.empty() || !size_macros.empty()) {
        new_code = CompileWith(*compiler_, RenderSizes(child, ValuesFor(size_macros, task.small.sizes)), true);
        EXPECT_EQ(new_code.outcome, Outcome::kOk) << new_code.message << "\n" << child;
        if (new_code.outcome != Outcome::kOk) return;
      }
      const auto expected = ForeignOutputs(*device_, text, task, source, old_code, 0);
      EXPECT_EQ(Differences(expected, ForeignOutputs(*device_, text, task, child, new_code, 1), tolerance), 0) << child;
    }
  }

  // A kernel of the folder in which `from` is replaced is refused, with a reason that contains `why`.
  void Refuses(const std::string& macro, const std::string& kernel, const std::string& from, const std::string& to,
               const std::string& why) {
    SCOPED_TRACE(kernel + ": " + to);
    const std::string text = LoadTemplate(std::filesystem::path(EVO_FOREIGN_KERNELS) / (kernel + ".cu")).text;
    std::string refusal;
    const bool applies = Applies(macro, With(text, from, to), refusal);
    EXPECT_THAT(applies ? "applies" : refusal, testing::HasSubstr(why));
  }

  // Each kernel of the folder by itself: it compiles for a GPU, and leaves the same numbers however its threads take turns.
  void CheckParents() {
    for (const auto& entry : std::filesystem::directory_iterator(EVO_FOREIGN_KERNELS)) {
      if (entry.path().extension() != ".cu") continue;
      const std::string text = LoadTemplate(entry.path()).text;
      SCOPED_TRACE(entry.path().stem().string());
      const std::string source = Parent(ParseTemplate("kernel", text)).rendering.source;
      EXPECT_EQ(CompileWith(*nvrtc_, source).message, "");
      const auto size_macros = ParseTemplate("parent", source).size_macros;
      CompileResult compiled;
      for (const Task& task : TasksOf(text)) {
        if (compiled.program.image.empty() || !size_macros.empty())
          compiled = CompileWith(*compiler_, RenderSizes(source, ValuesFor(size_macros, task.small.sizes)), true);
        ASSERT_EQ(compiled.outcome, Outcome::kOk) << compiled.message;
        const auto stored = ForeignOutputs(*device_, text, task, source, compiled, 0);
        EXPECT_EQ(Differences(stored, ForeignOutputs(*device_, text, task, source, compiled, 1), 0), 0);
        for (const double number : stored) ASSERT_TRUE(std::isfinite(number));
      }
    }
  }

  // Each kernel of the folder has its line in the table, and a macro does with it what the table says.
  void Check(const std::string& macro, const std::vector<ForeignKernel>& kernels) {
    std::vector<std::string> listed, present;
    for (const ForeignKernel& kernel : kernels) {
      SCOPED_TRACE(kernel.name);
      listed.push_back(kernel.name);
      const std::string text = LoadTemplate(std::filesystem::path(EVO_FOREIGN_KERNELS) / (kernel.name + ".cu")).text;
      std::string refusal;
      const bool applies = Applies(macro, text, refusal, kernel.compared);
      if (std::getenv("EVO_SHOW_TABLE") != nullptr)
        std::cout << fmt::format("{:<24} {:<36} {}", macro, kernel.name, applies ? "applies" : refusal) << std::endl;
      if (kernel.refusal.empty())
        EXPECT_TRUE(applies) << refusal;
      else
        EXPECT_THAT(applies ? "applies" : refusal, testing::HasSubstr(kernel.refusal));
    }
    for (const auto& entry : std::filesystem::directory_iterator(EVO_FOREIGN_KERNELS)) {
      if (entry.path().extension() == ".cu") present.push_back(entry.path().stem().string());
    }
    EXPECT_THAT(listed, testing::UnorderedElementsAreArray(present));
  }
};

}  // namespace evo
