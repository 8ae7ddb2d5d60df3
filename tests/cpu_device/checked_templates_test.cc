// Every shipped template runs without a finding when its accesses are checked, with its defaults and with drawn parameters.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <regex>
#include <stdexcept>
#include <utility>

#include "evaluator/gate/gate.h"
#include "kernel_templates/renderer.h"
#include "kernel_templates/task.h"
#include "platform/installation.h"
#include "tests/cpu_device/kernel_bench.h"

namespace evo {
namespace {

class CheckedTemplatesTest : public CpuDeviceTest {
 protected:
  Program Build(const std::string& source, bool checked = true) {
    CompiledProgram& compiled = compiled_[{source, checked}];
    if (compiled.image.empty()) compiled = CompileTemplate(source, checked);
    auto loaded = LoadProgram(*device_, source, compiled);
    if (const auto* failure = std::get_if<Failure>(&loaded)) throw std::runtime_error(failure->message);
    return std::move(std::get<Program>(loaded));
  }

  static CompiledProgram CompileTemplate(const std::string& source, bool checked) {
    CompilerInput request{source, {}, "", checked};
    for (const Step& step : ParseTemplate("candidate", source).steps) {
      if (step.launch) request.kernel_expressions.push_back(step.launch->kernel_expression);
    }
    CompileResult compiled = compiler_->Compile(request);
    EXPECT_EQ(compiled.outcome, Outcome::kOk) << compiled.message << "\n" << compiled.log;
    return compiled.program;
  }

  // The gate's verdict on a source after two runs. A fault ends the device, which is then replaced.
  std::optional<Failure> Check(const Task& task, const Case& sizes, const std::string& source) {
    Program reference = Build(task.reference, false);
    KernelReference answers(reference);
    auto made = InputSet::Make(*device_, task, sizes, DrawArguments(task, sizes, 0, 7), 7, answers);
    if (const auto* failure = std::get_if<Failure>(&made)) return *failure;
    auto inputs = std::move(std::get<std::unique_ptr<InputSet>>(made));
    auto program = std::make_unique<Program>(Build(source));
    auto binding = LaunchBinding::Make(*device_, *program, task, sizes);
    if (const auto* failure = std::get_if<Failure>(&binding)) return *failure;
    Gate gate(*device_, task.determinism);
    CheckedErrors errors;
    auto failure = gate.Check(BindProgram(std::get<LaunchBinding>(binding), *inputs), 2, errors);
    if (failure && failure->sticky) {
      static_cast<void>(program.release());
      static_cast<void>(used_.emplace_back(std::exchange(device_, MakeCpuDevice())));
    }
    return failure;
  }

  // CPU time of one run of the small case.
  double Milliseconds(const Task& task, const std::string& source, bool checked) {
    Program reference = Build(task.reference, false);
    KernelReference answers(reference);
    auto inputs = std::move(std::get<std::unique_ptr<InputSet>>(
        InputSet::Make(*device_, task, task.small, DrawArguments(task, task.small, 0, 7), 7, answers)));
    Program program = Build(source, checked);
    const LaunchBinding binding = std::get<LaunchBinding>(LaunchBinding::Make(*device_, program, task, task.small));
    const BoundProgram bound = BindProgram(binding, *inputs);
    const TimedRuns timed = device_->Time(*binding.image().loaded, std::vector<TimedRun>(5, TimedRun{{}, bound.sequence}));
    std::vector<std::uint64_t> spans;
    for (const SequenceTime& time : timed.times) spans.push_back(time.span_ticks);
    std::sort(spans.begin(), spans.end());
    return static_cast<double>(spans.at(2)) * 1e-6;
  }

  // Inline PTX is not supported on the cpu device.
  static bool HasPtx(const KernelTemplate& kernel) { return kernel.text.find("asm volatile(") != std::string::npos; }

  void ExpectTaskClean(const std::string& name) {
    const Task task = LoadTask(ShareDirectory() / "kernel_templates" / name);
    Rng rng(11);
    for (const KernelTemplate& kernel : LoadTemplates(task.directory)) {
      if (HasPtx(kernel)) continue;
      SCOPED_TRACE(kernel.name);
      for (int draw = 0; draw < 3; ++draw) {
        const Parameters parameters = draw == 0 ? Parameters{} : *kernel.space.Draw(rng);
        const auto failure = Check(task, task.small, RenderParameters(kernel.text, parameters));
        EXPECT_FALSE(failure) << failure->message;
      }
    }
  }

  // Removes one barrier after another; each removal must be found, except on `removable` lines.
  void ExpectBarriersMissed(const std::string& name, const std::string& kernel_name,
                            const std::vector<std::string>& removable = {}) {
    const Task task = LoadTask(ShareDirectory() / "kernel_templates" / name);
    for (const KernelTemplate& kernel : LoadTemplates(task.directory)) {
      if (kernel.name != kernel_name) continue;
      const std::string text = RenderParameters(kernel.text, {});
      static const std::regex kBarrier(R"(__sync(threads|warp)\(\);)");
      for (auto at = std::sregex_iterator(text.begin(), text.end(), kBarrier); at != std::sregex_iterator(); ++at) {
        std::string without = text;
        without.replace(static_cast<std::size_t>(at->position()), static_cast<std::size_t>(at->length()), ";");
        const std::string line =
            text.substr(static_cast<std::size_t>(at->position()),
                        text.find('\n', static_cast<std::size_t>(at->position())) - static_cast<std::size_t>(at->position()));
        const auto failure = Check(task, task.held_out_cpu.front(), without);
        const bool needed = std::find(removable.begin(), removable.end(), line) == removable.end();
        EXPECT_EQ(failure.has_value(), needed) << line;
        if (!failure) continue;
        EXPECT_EQ(failure->outcome, Outcome::kNondeterministic) << failure->message;
        EXPECT_NE(failure->message.find("race in shared memory"), std::string::npos) << line << " ... " << failure->message;
      }
    }
  }

  std::map<std::pair<std::string, bool>, CompiledProgram> compiled_;
  std::vector<std::unique_ptr<Device>> used_;
};

TEST_F(CheckedTemplatesTest, Attention) { ExpectTaskClean("attention"); }
TEST_F(CheckedTemplatesTest, GroupedQueries) { ExpectTaskClean("attention_gqa"); }
TEST_F(CheckedTemplatesTest, AttentionInBfloat16) { ExpectTaskClean("attention_bf16"); }
TEST_F(CheckedTemplatesTest, Softmax) { ExpectTaskClean("softmax"); }
TEST_F(CheckedTemplatesTest, LayerNorm) { ExpectTaskClean("layer_norm"); }
TEST_F(CheckedTemplatesTest, RowSum) { ExpectTaskClean("row_sum"); }
TEST_F(CheckedTemplatesTest, Transpose) { ExpectTaskClean("transpose"); }
TEST_F(CheckedTemplatesTest, MissesEveryBarrierOfTiledAttention) { ExpectBarriersMissed("attention", "tiled"); }
TEST_F(CheckedTemplatesTest, MissesEveryBarrierOfWmmaAttention) {
  // Before the first line every lane has taken part in a shuffle; after the others, in loading a matrix, which waits for all
  // lanes.
  ExpectBarriersMissed("attention", "wmma",
                       {"__syncwarp();   // every score is read before the first weight overwrites it",
                        "__syncwarp();   // every factor is written before they are loaded",
                        "__syncwarp();   // all weights are read before the next scores overwrite them"});
}
TEST_F(CheckedTemplatesTest, MissesEveryBarrierOfBlockSoftmax) { ExpectBarriersMissed("softmax", "block"); }
TEST_F(CheckedTemplatesTest, MissesEveryBarrierOfTiledTranspose) { ExpectBarriersMissed("transpose", "tiled"); }

// Not a check: measures the cost that docs/cpu_device.md states.
TEST_F(CheckedTemplatesTest, DISABLED_Cost) {
  for (const char* name : {"attention", "softmax"}) {
    const Task task = LoadTask(ShareDirectory() / "kernel_templates" / name);
    for (const KernelTemplate& kernel : LoadTemplates(task.directory)) {
      if (HasPtx(kernel)) continue;
      const std::string source = RenderParameters(kernel.text, {});
      const auto compile = [&](bool checked) {
        const auto start = std::chrono::steady_clock::now();
        CompileTemplate(source, checked);
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
      };
      compile(false), compile(true);
      const double compile_plain = compile(false);
      const double compile_checked = compile(true);
      const double plain = Milliseconds(task, source, false);
      const double checked = Milliseconds(task, source, true);
      std::cout << fmt::format("{} {}: {:.2f} ms, checked {:.2f} ms, {:.1f} times; compiled in {:.0f} and {:.0f} ms\n", name,
                               kernel.name, plain, checked, checked / plain, compile_plain, compile_checked);
    }
  }
}

}  // namespace
}  // namespace evo
