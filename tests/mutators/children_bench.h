#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>
#include <iostream>
#include <map>
#include <sstream>
#include <tuple>
#include <utility>

#include "evaluator/compiler/nvrtc/nvrtc_compiler.h"
#include "evaluator/gate/gate.h"
#include "kernel_templates/task.h"
#include "tests/cpu_device/kernel_bench.h"
#include "tests/mutators/candidate_input.h"
#include "tests/mutators/mutating.h"

namespace evo {

// What became of a mutator's children.
struct Count {
  int proposals = 0;
  int tried = 0;
  int compile = 0;  // compiled for a GPU
  int differ = 0;   // have another cubin or launch than the parent
  int right = 0;    // of those, passed the gate on the cpu device
  int unsupported = 0;
};

// Tiles of products: of several sizes, with one element a thread.
inline const std::vector<Parameters> kTileSettings{
    {},
    {{"TILE_M", 16}, {"TILE_N", 32}, {"TILE_K", 8}, {"THREAD_M", 4}, {"THREAD_N", 1}},
    {{"TILE_M", 64}, {"TILE_N", 16}, {"TILE_K", 32}, {"THREAD_M", 2}, {"THREAD_N", 8}}};
// The same for floats, which come through a ring. Tiles are whole or not, so that both kinds of copies are made.
inline const std::vector<Parameters> kRingSettings{
    {},
    {{"TILE_M", 32},
     {"TILE_N", 64},
     {"TILE_K", 8},
     {"THREAD_M", 4},
     {"THREAD_N", 4},
     {"STAGES", 2},
     {"BLOCKS", 2},
     {"UNROLL_K", 2}},
    {{"TILE_M", 64}, {"TILE_N", 32}, {"TILE_K", 32}, {"THREAD_M", 8}, {"THREAD_N", 4}, {"LANES_M", 8}, {"STAGES", 3}}};

// Compiles children for a GPU and checks them with the gate on the cpu device.
class ChildrenTest : public CpuDeviceTest {
 protected:
  static void SetUpTestSuite() {
    CpuDeviceTest::SetUpTestSuite();
    const auto scratch = std::filesystem::temp_directory_path() / ("evo-children-test-" + std::to_string(::getpid()));
    nvrtc_ = std::make_unique<NvrtcCompiler>(NvrtcPaths{*CudaRoot(), ShareDirectory() / "nvrtc", scratch});
  }
  static void TearDownTestSuite() {
    kept_.clear();
    nvrtc_.reset();
    CpuDeviceTest::TearDownTestSuite();
  }

  // Once for a source, of the last ones: a child is run at several sizes and beside its parent.
  static CompileResult CompileWith(Compiler& compiler, const std::string& source, bool checked = false) {
    constexpr std::size_t kMostKept = 64;
    if (kept_.size() > kMostKept) kept_.clear();
    const auto [known, is_new] = kept_.try_emplace({&compiler, source, checked});
    if (is_new) known->second = CompileAnew(compiler, source, checked);
    return known->second;
  }

  static CompileResult CompileAnew(Compiler& compiler, const std::string& source, bool checked) {
    return compiler.Compile(CandidateInput(source, checked));
  }

  // What determines a run on a GPU: the cubin and the launch lines.
  static std::string CodeOf(const CompileResult& compiled, const std::string& source) {
    std::string code = compiled.program.image;
    std::istringstream lines(source);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("// evo:launch") || line.starts_with("//   ")) code += line;
    }
    return code;
  }

  // The gate's failure for a source; nullopt if it passes. Checks all generators of the small case and the held-out cases for the
  // cpu device. With `checked`, every memory access is checked for bounds and races.
  std::optional<Failure> Judge(const Task& task, const std::string& source, bool checked = false) {
    const CompileResult compiled = CompileWith(*compiler_, source, checked);
    if (compiled.outcome != Outcome::kOk) return Failure{compiled.outcome, compiled.message};
    std::vector<std::pair<Case, int>> checks;
    for (int generator = 0; generator < 4; ++generator) checks.emplace_back(task.small, generator);
    for (const Case& held_out : task.held_out_cpu) checks.emplace_back(held_out, 0);
    for (const auto& [sizes, generator] : checks) {
      if (auto failure = Check(task, sizes, generator, source, compiled.program)) return failure;
    }
    return std::nullopt;
  }

  std::optional<Failure> Check(const Task& task, const Case& sizes, int generator, const std::string& source,
                               const CompiledProgram& compiled) {
    CompiledProgram& reference_code = references_[task.name];
    if (reference_code.image.empty()) reference_code = CompileWith(*compiler_, task.reference).program;
    auto reference = std::get<Program>(LoadProgram(*device_, task.reference, reference_code));
    KernelReference answers(reference);
    auto made = InputSet::Make(*device_, task, sizes, DrawArguments(task, sizes, generator, 7), 7, answers);
    if (const auto* failure = std::get_if<Failure>(&made)) return *failure;
    auto inputs = std::move(std::get<std::unique_ptr<InputSet>>(made));
    auto loaded = LoadProgram(*device_, source, compiled);
    if (const auto* failure = std::get_if<Failure>(&loaded)) return *failure;
    auto program = std::make_unique<Program>(std::move(std::get<Program>(loaded)));
    auto binding = LaunchBinding::Make(*device_, *program, task, sizes);
    if (const auto* failure = std::get_if<Failure>(&binding)) return *failure;
    Gate gate(*device_, task.determinism);
    CheckedErrors errors;
    auto failure = gate.Check(BindProgram(std::get<LaunchBinding>(binding), *inputs), 2, errors);
    if (failure && failure->sticky) {
      static_cast<void>(program.release());
      retired_devices_.push_back(std::exchange(device_, MakeCpuDevice()));
    }
    return failure;
  }

  // The child that `parent` has become by its edits is right at these values of its parameters, and keeps all of them. Every
  // memory access is checked.
  void ExpectRight(const Task& task, Parent& parent, const Parameters& setting) {
    for (const auto& [name, value] : setting) parent.genome.parameters[name] = value;
    parent.Render();
    ASSERT_EQ(parent.rendering.dropped, std::vector<std::string>{});
    EXPECT_EQ(CompileWith(*nvrtc_, parent.rendering.source).message, "") << parent.rendering.source;
    const auto failure = Judge(task, parent.rendering.source, true);
    EXPECT_FALSE(failure) << failure->message << "\n" << parent.rendering.source;
  }

  // Tries the children of one mutator on one template: at most `most`, evenly spaced among the proposals.
  Count Survey(const SourceMutator& mutator, const Task& task, const KernelTemplate& kernel, int most, bool verbose) {
    const Parent parent(kernel);
    const std::string parent_code = CodeOf(CompileWith(*nvrtc_, parent.rendering.source), parent.rendering.source);
    const auto proposals = mutator.Proposals(parent.Context());
    Count count;
    count.proposals = static_cast<int>(proposals.size());
    for (int i = 0; i < std::min(most, count.proposals); ++i) {
      const Proposal& proposal = proposals[static_cast<std::size_t>(i * count.proposals / std::min(most, count.proposals))];
      const AppliedEdit child =
          ApplyEdit(*parent.tree, parent.genome.parameters, MakeEdit(*parent.tree, mutator.name(), proposal));
      EXPECT_EQ(child.dropped, "") << mutator.name();
      ++count.tried;
      const CompileResult compiled = CompileWith(*nvrtc_, child.text);
      if (verbose)
        std::cout << "---- " << mutator.name() << " " << task.name << "/" << kernel.name << "\n"
                  << Difference(parent, child.text);
      if (compiled.outcome != Outcome::kOk) {
        if (verbose) std::cout << "==> " << compiled.message << std::endl;
        continue;
      }
      ++count.compile;
      if (CodeOf(compiled, child.text) == parent_code) {
        if (verbose) std::cout << "==> same code" << std::endl;
        continue;
      }
      ++count.differ;
      const auto failure = Judge(task, child.text, checked_);
      count.right += !failure;
      count.unsupported += failure && failure->outcome == Outcome::kUnsupported;
      if (verbose) std::cout << "==> " << (failure ? failure->message : "right") << std::endl;
    }
    return count;
  }

  // The lines of the child that the parent does not have.
  static std::string Difference(const Parent& parent, const std::string& child) {
    std::istringstream old_lines(parent.rendering.source);
    std::map<std::string, int> known;
    for (std::string line; std::getline(old_lines, line);) ++known[line];
    std::istringstream new_lines(child);
    std::string text;
    for (std::string line; std::getline(new_lines, line);) {
      if (--known[line] < 0) text += line + "\n";
    }
    return text;
  }

  static inline std::unique_ptr<NvrtcCompiler> nvrtc_;
  static inline std::map<std::string, CompiledProgram> references_;
  static inline std::map<std::tuple<Compiler*, std::string, bool>, CompileResult> kept_;
  std::vector<std::unique_ptr<Device>> retired_devices_;
  bool checked_ = false;
};

}  // namespace evo
