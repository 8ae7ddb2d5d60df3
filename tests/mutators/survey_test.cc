// Every source mutator must apply somewhere: on at least two of the tasks, and on a kernel that was not written for evo, it must
// make a correct child with another cubin. EVO_SURVEY=1 prints what was found, EVO_SURVEY_MUTATORS=a,b restricts the mutators.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <set>

#include "tests/mutators/children_bench.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

// A kernel of a task, with some parameter values, after some other mutators.
struct Place {
  const char* task;
  const char* kernel;
  Parameters parameters;
  std::vector<const char*> before;
  bool foreign = false;
};

// First kernels that were not written for evo, then the tasks' own templates, the fast ones first. Kernels that use tensor cores
// by inline PTX are missing, since they do not run on the cpu device.
std::vector<Place> Places() {
  return {{"sample_gelu", "serial", {}, {}, true},
          {"sample_rows", "serial", {}, {}, true},
          {"sample_image", "blur", {}, {}, true},
          {"sample_matmul", "tiles", {}, {}, true},
          {"sample_filter", "fir", {}, {}, true},
          {"sample_rows", "shared", {}, {}, true},
          {"sample_gelu", "warp", {}, {}, true},
          {"sample_matmul", "simple", {}, {}, true},
          {"sample_gemv", "gemv", {}, {}, true},
          {"sample_product", "columns", {}, {}, true},
          {"sample_energy", "interleaved", {}, {}, true},
          {"sample_running", "chunks", {}, {}, true},
          {"sample_grades", "strided", {}, {}, true},
          {"sample_attention", "scores", {}, {}, true},
          {"sample_cross_attention", "context", {}, {}, true},
          {"histogram", "naive", {}, {}},
          {"histogram_contended", "naive", {}, {}},
          {"prefix_sum", "naive", {}, {}},
          {"prefix_sum_exclusive", "naive", {}, {}},
          {"vector_sum", "naive", {}, {}},
          {"mean_square_error", "naive", {}, {}},
          {"sample_half_product", "columns", {}, {}, true},
          {"sample_byte_layer", "flat", {}, {}, true},
          {"sample_convolution", "flat", {}, {}, true},
          {"sample_convolution_sequence", "simple", {}, {}, true},
          {"sample_grid", "flat", {}, {}, true},
          {"row_sum", "naive", {}, {}},
          {"transpose", "naive", {}, {}},
          {"transpose", "tiled", {}, {}},
          {"gemm", "naive", {}, {}},
          {"linear_gelu", "naive", {}, {}},
          {"gemm_fp16", "naive", {}, {}},
          {"linear_gelu_bf16", "naive", {}, {}},
          {"gemm_int8", "naive", {}, {}},
          {"conv2d_3x3_fp16", "naive", {}, {}},
          {"conv1d", "naive", {}, {}},
          {"conv2d_pointwise", "naive", {}, {}},
          {"stencil_5_point", "naive", {}, {}},
          {"stencil_27_point", "naive", {}, {}},
          {"layer_norm", "naive", {}, {}},
          {"softmax", "naive", {}, {}},
          {"row_sum", "block", {{"THREADS", 32}}, {}},
          {"softmax", "block", {{"THREADS", 32}}, {}},
          {"layer_norm", "block", {{"THREADS", 64}}, {}},
          {"softmax", "warp", {}, {}},
          {"attention", "naive", {}, {}},
          {"attention", "tiled", {}, {}},
          {"attention_causal", "naive", {}, {}},
          {"gemm", "tiled", {}, {}},
          {"attention", "wmma", {}, {}},
          {"gemm", "naive", {}, {"shared_stage"}},
          {"layer_norm", "naive", {}, {"shared_stage"}},
          {"attention", "naive", {}, {"shared_stage"}},
          {"gemm", "naive", {}, {"register_tile"}},
          {"row_sum", "naive", {}, {"register_tile"}},
          {"gemm", "naive", {}, {"register_tile", "loop_fission"}},
          {"row_sum", "naive", {}, {"register_tile", "loop_fission"}}};
}

// Mutators that need not apply to the tasks, whose templates have parameters for their blocks.
constexpr std::array kNotOnTasks{"block_shape"sv};
// Those of what only one task has: elements of 8 bits.
constexpr std::array kOnOneTask{"integer_tensor_contraction"sv, "integer_warp_group_contraction"sv};

std::string Setting(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

class SurveyTest : public ChildrenTest {
 protected:
  // A parent and its compiled code.
  struct Bred {
    Task task;
    std::unique_ptr<Parent> parent;
    std::string code;
  };

  Bred& At(std::size_t number, const Place& place) {
    auto& bred = bred_[number];
    if (bred) return *bred;
    const auto folder = place.foreign ? std::filesystem::path(EVO_SAMPLE_TASKS) : ShareDirectory() / "kernel_templates";
    bred = std::make_unique<Bred>(Bred{LoadTask(folder / place.task), nullptr, ""});
    const KernelTemplate kernel = LoadTemplate(folder / place.task / fmt::format("{}.cu", place.kernel));
    Genome genome = DefaultGenome(kernel);
    for (const auto& [name, value] : place.parameters) genome.parameters.at(name) = value;
    bred->parent = std::make_unique<Parent>(kernel, genome);
    for (const char* mutator : place.before) {
      const auto proposals = SourceMutatorNamed(mutator).Proposals(bred->parent->Context());
      EXPECT_FALSE(proposals.empty()) << mutator << " on " << place.task << "/" << place.kernel;
      if (proposals.empty()) continue;
      genome.edits.push_back(MakeEdit(*bred->parent->tree, mutator, proposals[proposals.size() / 2]));
      bred->parent = std::make_unique<Parent>(kernel, genome);
    }
    const std::string& source = bred->parent->rendering.source;
    bred->code = CodeOf(CompileWith(*nvrtc_, source), source);
    return *bred;
  }

  // Counts of the children that were tried.
  struct Tally {
    int tried = 0;
    int compiled = 0;
    int changed = 0;
    int judged = 0;
    int right = 0;
    std::set<std::string> tasks;
    std::set<std::string> foreign;
  };

  // Tries children of a mutator at a place until one is another program and correct.
  void Try(const SourceMutator& mutator, std::size_t number, const Place& place, int most, Tally& tally) {
    Bred& bred = At(number, place);
    const auto proposals = mutator.Proposals(bred.parent->Context());
    const int count = std::min(most, static_cast<int>(proposals.size()));
    for (int i = 0; i < count; ++i) {
      const auto& proposal = proposals[static_cast<std::size_t>(i) * proposals.size() / static_cast<std::size_t>(count)];
      const AppliedEdit child =
          ApplyEdit(*bred.parent->tree, bred.parent->genome.parameters, MakeEdit(*bred.parent->tree, mutator.name(), proposal));
      EXPECT_EQ(child.dropped, "") << mutator.name();
      ++tally.tried;
      const CompileResult compiled = CompileWith(*nvrtc_, child.text);
      if (compiled.outcome != Outcome::kOk) {
        EXPECT_NE(compiled.outcome, Outcome::kCompileError) << mutator.name() << ": " << compiled.message;
        continue;
      }
      ++tally.compiled;
      if (CodeOf(compiled, child.text) == bred.code) continue;
      ++tally.changed;
      ++tally.judged;
      if (!(mutator.mostly_wrong() ? IsRightElsewhere(bred.task, child.text) : !Judge(bred.task, child.text))) continue;
      ++tally.right;
      (place.foreign ? tally.foreign : tally.tasks)
          .insert(place.foreign ? fmt::format("{}/{}", place.task, place.kernel) : place.task);
      return;
    }
  }

 private:
  // Judges a child in a process of its own, since it may crash or never end.
  bool IsRightElsewhere(const Task& task, const std::string& source) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(kMostSeconds);
      static_cast<void>(device_.release());
      device_ = MakeCpuDevice();
      ::_exit(Judge(task, source, true) ? 1 : 0);
    }
    int status = 1;
    return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
  }

  static constexpr unsigned kMostSeconds = 5;

  std::map<std::size_t, std::unique_ptr<Bred>> bred_;
};

TEST_F(SurveyTest, EveryMutatorAppliesSomewhere) {
  const MutatorSet set;
  const std::string only = Setting("EVO_SURVEY_MUTATORS");
  const bool whole = !Setting("EVO_SURVEY").empty();
  const auto places = Places();
  if (whole)
    std::cout << "| operator | tasks | kernels not written for evo | compiled | changed | right |\n| --- | --- | --- | --- | --- "
                 "| --- |\n";
  for (const auto& mutator : set.all()) {
    const auto* source = dynamic_cast<const SourceMutator*>(mutator.get());
    const std::string name(mutator->name());
    if (!source || (!only.empty() && ("," + only + ",").find("," + name + ",") == std::string::npos)) continue;
    Tally tally;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const bool wanted = places[i].foreign ? tally.foreign.empty() : tally.tasks.size() < 2;
      const bool known = !places[i].foreign && tally.tasks.contains(places[i].task);
      // Mutators whose children are mostly wrong need more tries.
      const int most = !source->mostly_wrong() ? 6 : places[i].foreign ? 48 : 16;
      if (whole || (wanted && !known)) Try(*source, i, places[i], most, tally);
    }
    const bool on_tasks = std::find(kNotOnTasks.begin(), kNotOnTasks.end(), name) == kNotOnTasks.end();
    const bool on_one = std::find(kOnOneTask.begin(), kOnOneTask.end(), name) != kOnOneTask.end();
    EXPECT_GE(tally.tasks.size(), !on_tasks ? 0u : on_one ? 1u : 2u) << name;
    EXPECT_GE(tally.foreign.size(), 1u) << name;
    if (!whole) continue;
    std::string tasks;
    for (const auto& task : tally.tasks) tasks += (tasks.empty() ? "" : ", ") + task;
    std::string foreign;
    for (const auto& kernel : tally.foreign) foreign += (foreign.empty() ? "" : ", ") + kernel.substr(7);
    std::cout << fmt::format("| `{}` | {} | {} | {} of {} | {} of {} | {} of {} |\n", name, tasks, foreign, tally.compiled,
                             tally.tried, tally.changed, tally.compiled, tally.right, tally.judged)
              << std::flush;
  }
}

}  // namespace
}  // namespace evo
