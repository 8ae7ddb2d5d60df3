// What becomes of the children of source mutators: compiled for a GPU, and through the gate on the cpu device.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>
#include <utility>

#include "evaluator/compiler/nvrtc/nvrtc_compiler.h"
#include "evaluator/gate/gate.h"
#include "kernel_templates/task.h"
#include "tests/cpu_device/kernel_bench.h"
#include "tests/mutators/mutating.h"

namespace evo {
namespace {

// Of the children of a mutator.
struct Count {
  int proposals = 0;
  int tried = 0;
  int compile = 0;  // for a GPU
  int differ = 0;   // from the parent's cubin or launch
  int right = 0;    // through the gate on the cpu device, of those that differ
  int unsupported = 0;
};

class ChildrenTest : public CpuDeviceTest {
 protected:
  static void SetUpTestSuite() {
    CpuDeviceTest::SetUpTestSuite();
    const auto scratch = std::filesystem::temp_directory_path() / ("evo-children-test-" + std::to_string(::getpid()));
    nvrtc_ = std::make_unique<NvrtcCompiler>(NvrtcPaths{*CudaRoot(), ShareDirectory() / "nvrtc", scratch});
  }
  static void TearDownTestSuite() {
    nvrtc_.reset();
    CpuDeviceTest::TearDownTestSuite();
  }

  static CompileResult CompileWith(Compiler& compiler, const std::string& source, bool checked = false) {
    CompileRequest request{source, {}, "sm_90a", checked};
    for (const Step& step : ParseTemplate("candidate", source).steps) {
      if (step.launch) request.kernel_expressions.push_back(step.launch->kernel_expression);
    }
    return compiler.Compile(request);
  }

  // What runs on a GPU: the cubin and the launch lines.
  static std::string CodeOf(const CompileResult& compiled, const std::string& source) {
    std::string code = compiled.program.image;
    std::istringstream lines(source);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("// evo:launch") || line.starts_with("//   ")) code += line;
    }
    return code;
  }

  // What the gate says of a source: all generators of the small case, and the held-out ones for the cpu device.
  // `checked`: every access, for bounds and races.
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
    auto made = InputSet::Make(*device_, task, sizes, DrawArguments(task, sizes, generator, 7), 7, reference);
    if (const auto* failure = std::get_if<Failure>(&made)) return *failure;
    auto inputs = std::move(std::get<std::unique_ptr<InputSet>>(made));
    auto loaded = LoadProgram(*device_, source, compiled);
    if (const auto* failure = std::get_if<Failure>(&loaded)) return *failure;
    auto program = std::make_unique<Program>(std::move(std::get<Program>(loaded)));
    auto binding = LaunchBinding::Make(*device_, *program, task, sizes);
    if (const auto* failure = std::get_if<Failure>(&binding)) return *failure;
    Gate gate(*device_, task.determinism);
    CheckedErrors errors;
    auto failure = gate.Check(BindProgram(*program, std::get<LaunchBinding>(binding), *inputs), 2, errors);
    if (failure && failure->sticky) {
      static_cast<void>(program.release());
      spent_.push_back(std::exchange(device_, MakeCpuDevice()));
    }
    return failure;
  }

  // The children of one mutator on one template, `most` of them at equal distances.
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

  // The lines that the child has and the parent has not.
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
  std::vector<std::unique_ptr<Device>> spent_;
  bool checked_ = false;
};

struct Expected {
  const char* task;
  const char* kernel;
  const char* mutator;
  int proposals;  // at least
};

// Kernels in the style of introductions to CUDA, not of this project's templates: blockDim, literal blocks, conditions round the
// whole body. Every child compiles for a GPU, most are other programs, and these give right results.
TEST_F(ChildrenTest, OfKernelsThatWereNotWrittenForUs) {
  constexpr std::array kExpected{Expected{"sample_rows", "serial", "thread_per_row_to_warp", 1},
                                 Expected{"sample_rows", "serial", "thread_per_row_to_block", 1},
                                 Expected{"sample_rows", "serial", "work_per_thread", 4},
                                 Expected{"sample_rows", "serial", "block_shape", 5},
                                 Expected{"sample_rows", "serial", "register_tile", 2},
                                 Expected{"sample_rows", "shared", "accumulate_precision", 1},
                                 Expected{"sample_image", "blur", "register_tile", 4},
                                 Expected{"sample_rows", "shared", "warp_reduction", 2},
                                 Expected{"sample_rows", "shared", "index_strength", 1},
                                 Expected{"sample_rows", "shared", "block_shape", 5},
                                 Expected{"sample_image", "blur", "block_shape", 4},
                                 Expected{"sample_image", "blur", "block_order", 4},
                                 Expected{"sample_image", "blur", "work_per_thread", 8},
                                 Expected{"sample_image", "blur", "exp_to_exp2", 1}};
  for (const Expected& expected : kExpected) {
    const Task task = LoadTask(std::filesystem::path(EVO_SAMPLE_TASKS) / expected.task);
    const KernelTemplate kernel = LoadTemplate(task.directory / fmt::format("{}.cu", expected.kernel));
    const Count count = Survey(SourceMutatorNamed(expected.mutator), task, kernel, 8, false);
    SCOPED_TRACE(fmt::format("{} on {}", expected.mutator, expected.kernel));
    EXPECT_GE(count.proposals, expected.proposals);
    EXPECT_EQ(count.compile, count.tried);
    EXPECT_GE(count.differ, 1);
    EXPECT_EQ(count.right, count.differ);
  }
}

// One edit on top of another, as a search makes them.
TEST_F(ChildrenTest, OfChildren) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> lineages{
      {"softmax/naive", {"thread_per_row_to_warp", "register_tile", "exp_to_exp2"}},
      {"attention/naive", {"thread_per_row_to_warp", "register_tile"}},
      {"layer_norm/naive", {"thread_per_row_to_block", "index_strength", "reciprocal"}},
      {"row_sum/naive", {"thread_per_row_to_warp", "work_per_thread", "unroll_pragma"}},
      {"gemm/naive", {"register_tile", "register_tile", "block_order"}},
      {"softmax/block", {"warp_reduction", "warp_reduction", "exp_to_exp2"}}};
  for (const auto& [place, mutators] : lineages) {
    const Task task = LoadTask(ShareDirectory() / "kernel_templates" / place.substr(0, place.find('/')));
    std::string text = LoadTemplate(ShareDirectory() / "kernel_templates" / (place + ".cu")).text;
    for (const std::string& mutator : mutators) {
      const auto children = ChildrenOf(mutator, text);
      ASSERT_FALSE(children.empty()) << mutator << " on " << text;
      text = children.back();
      EXPECT_EQ(CompileWith(*nvrtc_, text).message, "") << text;
      const auto failure = Judge(task, text);
      EXPECT_FALSE(failure) << mutator << ": " << failure->message << "\n" << text;
    }
  }
}

// From a naive kernel to one that stages, copies asynchronously and buffers twice; every access checked.
TEST_F(ChildrenTest, OfStages) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> lineages{
      {"gemm/naive", {"shared_stage", "async_stage", "double_buffer"}},
      {"layer_norm/naive", {"shared_stage", "double_buffer"}},
      {"attention/naive", {"shared_stage", "double_buffer"}}};
  for (const auto& [place, mutators] : lineages) {
    const Task task = LoadTask(ShareDirectory() / "kernel_templates" / place.substr(0, place.find('/')));
    std::string text = LoadTemplate(ShareDirectory() / "kernel_templates" / (place + ".cu")).text;
    for (const std::string& mutator : mutators) {
      const auto children = ChildrenOf(mutator, text);
      ASSERT_FALSE(children.empty()) << mutator << " on " << text;
      text = children[children.size() / 2];
      EXPECT_EQ(CompileWith(*nvrtc_, text).message, "") << text;
      const auto failure = Judge(task, text, true);
      EXPECT_FALSE(failure) << mutator << ": " << failure->message << "\n" << text;
    }
  }
}

TEST_F(ChildrenTest, OfBlocksOfOneWarp) {
  const Task task = LoadTask(ShareDirectory() / "kernel_templates" / "softmax");
  std::string text = LoadTemplate(task.directory / "block.cu").text;
  const std::string threads = "#define THREADS 128";
  text.replace(text.find(threads), threads.size(), "#define THREADS 32");
  const std::string parent_code = CodeOf(CompileWith(*nvrtc_, text), text);
  const auto children = ChildrenOf("barrier_narrow", text);
  ASSERT_GE(children.size(), 5u);
  for (const std::string& child : {children.front(), children.back()}) {
    EXPECT_NE(CodeOf(CompileWith(*nvrtc_, child), child), parent_code);
    const auto failure = Judge(task, child, true);
    EXPECT_FALSE(failure) << failure->message;
  }
}

std::string Variable(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value ? value : otherwise;
}

// Not a check: how many children of each mutator are right, over the templates of all tasks. EVO_SURVEY_MUTATORS=a,b
// EVO_SURVEY_TASKS=a,b EVO_SURVEY_MOST=n (children of a mutator on a template) narrow it down;
// EVO_SURVEY_VERBOSE=1 shows them, EVO_SURVEY_CHECKED=1 looks for races, too.
TEST_F(ChildrenTest, DISABLED_Survey) {
  const std::string mutators = Variable("EVO_SURVEY_MUTATORS", "");
  const std::string tasks = Variable("EVO_SURVEY_TASKS", "");
  const int most = std::stoi(Variable("EVO_SURVEY_MOST", "8"));
  const bool verbose = Variable("EVO_SURVEY_VERBOSE", "0") == "1";
  checked_ = Variable("EVO_SURVEY_CHECKED", "0") == "1";
  const MutatorSet set;
  std::map<std::string, Count> counts;
  for (const auto& folder : FindTasks({ShareDirectory() / "kernel_templates", EVO_SAMPLE_TASKS})) {
    const Task task = LoadTask(folder);
    if (!tasks.empty() && ("," + tasks + ",").find("," + task.name + ",") == std::string::npos) continue;
    for (const KernelTemplate& kernel : LoadTemplates(folder)) {
      for (const auto& mutator : set.all()) {
        const std::string name(mutator->name());
        const auto* source = dynamic_cast<const SourceMutator*>(mutator.get());
        if (!source || (!mutators.empty() && ("," + mutators + ",").find("," + name + ",") == std::string::npos)) continue;
        const Count count = Survey(*source, task, kernel, most, verbose);
        if (count.proposals == 0) continue;
        std::cout << fmt::format("{:24} {:22} proposals {:3} tried {:3} compile {:3} differ {:3} right {:3} unsupported {}\n",
                                 name, task.name + "/" + kernel.name, count.proposals, count.tried, count.compile, count.differ,
                                 count.right, count.unsupported)
                  << std::flush;
        Count& sum = counts[name];
        sum.proposals += count.proposals, sum.tried += count.tried, sum.compile += count.compile, sum.differ += count.differ;
        sum.right += count.right, sum.unsupported += count.unsupported;
      }
    }
  }
  for (const auto& [name, count] : counts) {
    std::cout << fmt::format("ALL {:24} proposals {:4} tried {:4} compile {:4} differ {:4} right {:4} unsupported {}\n", name,
                             count.proposals, count.tried, count.compile, count.differ, count.right, count.unsupported);
  }
}

}  // namespace
}  // namespace evo
