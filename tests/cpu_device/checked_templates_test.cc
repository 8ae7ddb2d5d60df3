// Every template that comes with evo runs clean when its accesses are checked, at its defaults and as drawn.
#include <gtest/gtest.h>

#include <stdexcept>

#include "core/installation.h"
#include "evaluator/gate/gate.h"
#include "kernel_templates/renderer.h"
#include "kernel_templates/task.h"
#include "tests/cpu_device/kernel_bench.h"

namespace evo {
namespace {

class CheckedTemplatesTest : public CpuDeviceTest {
 protected:
  Program Build(const std::string& source) {
    CompileRequest request{source, {}, "", true};
    for (const Step& step : ParseTemplate("candidate", source).steps) {
      if (step.launch) request.kernel_expressions.push_back(step.launch->kernel_expression);
    }
    CompileResult compiled = compiler_->Compile(request);
    EXPECT_EQ(compiled.outcome, Outcome::kOk) << compiled.message << "\n" << compiled.log;
    auto loaded = LoadProgram(*device_, source, compiled.program);
    if (const auto* failure = std::get_if<Failure>(&loaded)) throw std::runtime_error(failure->message);
    return std::move(std::get<Program>(loaded));
  }

  void ExpectClean(const Task& task, Program& reference, const Case& sizes, const std::string& source) {
    auto made = InputSet::Make(*device_, task, sizes, 0, 7, reference);
    ASSERT_FALSE(std::holds_alternative<Failure>(made)) << std::get<Failure>(made).message;
    auto inputs = std::move(std::get<std::unique_ptr<InputSet>>(made));
    Program program = Build(source);
    auto binding = LaunchBinding::Make(*device_, program, task, sizes);
    ASSERT_FALSE(std::holds_alternative<Failure>(binding)) << std::get<Failure>(binding).message;
    Gate gate(*device_, task.determinism);
    CheckedErrors errors;
    const auto failure = gate.Check(BindProgram(program, std::get<LaunchBinding>(binding), *inputs), 2, errors);
    EXPECT_FALSE(failure) << failure->message;
  }

  void ExpectTaskClean(const std::string& name) {
    const Task task = LoadTask(ShareDirectory() / "kernel_templates" / name);
    Program reference = Build(task.reference);
    Rng rng(11);
    for (const KernelTemplate& kernel : LoadTemplates(task.directory)) {
      SCOPED_TRACE(kernel.name);
      ExpectClean(task, reference, task.small, RenderParameters(kernel.text, {}));
      for (int draw = 0; draw < 2; ++draw) ExpectClean(task, reference, task.small, RenderParameters(kernel.text, *kernel.space.Draw(rng)));
    }
  }
};

TEST_F(CheckedTemplatesTest, Attention) { ExpectTaskClean("attention"); }
TEST_F(CheckedTemplatesTest, Softmax) { ExpectTaskClean("softmax"); }

}  // namespace
}  // namespace evo
