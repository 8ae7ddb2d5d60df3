// Children of source mutators must compile for a GPU and pass the gate on the cpu device.
#include <cstdlib>

#include "tests/mutators/children_bench.h"
#include "tests/mutators/scan_kernels.h"

namespace evo {
namespace {

struct Expected {
  const char* task;
  const char* kernel;
  const char* mutator;
  int proposals;  // at least
};

// Kernels in the style of introductions to CUDA rather than of evo's templates: with blockDim, literal blocks, and conditions
// around the whole body. Every child compiles for a GPU; those that are other programs than the parent give correct results.
TEST_F(ChildrenTest, OfKernelsNotWrittenForEvo) {
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
                                 Expected{"sample_grid", "flat", "stencil_rows", 1},
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

// Several edits on top of each other, as a search makes them.
TEST_F(ChildrenTest, OfChildren) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> lineages{
      {"softmax/naive", {"thread_per_row_to_warp", "register_tile", "exp_to_exp2"}},
      {"attention/naive", {"thread_per_row_to_warp", "register_tile"}},
      {"layer_norm/naive", {"thread_per_row_to_block", "index_strength", "reciprocal"}},
      {"row_sum/naive", {"thread_per_row_to_warp", "work_per_thread", "unroll_pragma"}},
      {"argmax/naive", {"thread_per_row_to_block", "vector_load_shared"}},
      {"gemm/naive", {"register_tile", "register_tile", "block_order"}},
      {"softmax/block", {"warp_reduction", "exp_to_exp2"}}};
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

// From a naive kernel to one that stages in shared memory, copies asynchronously and uses two buffers. Every memory access is
// checked.
TEST_F(ChildrenTest, OfStagedKernels) {
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

// Tiles of a block and of a thread, of several sizes, with every access checked: ragged edges, more threads than elements to
// bring and fewer, one element a thread.
TEST_F(ChildrenTest, OfMatrixProducts) {
  const std::vector<std::pair<std::filesystem::path, const char*>> places{
      {std::filesystem::path(EVO_SAMPLE_TASKS) / "sample_product", "flat"},
      {std::filesystem::path(EVO_SAMPLE_TASKS) / "sample_product", "columns"},
      {std::filesystem::path(EVO_SAMPLE_TASKS) / "sample_product", "pointers"},
      {std::filesystem::path(EVO_SAMPLE_TASKS) / "sample_matmul", "simple"},
      {ShareDirectory() / "kernel_templates" / "gemm", "naive"},
      {ShareDirectory() / "kernel_templates" / "linear_gelu", "naive"},
      {ShareDirectory() / "kernel_templates" / "gemm_int8", "naive"},
      {ShareDirectory() / "kernel_templates" / "gemm_fp16", "naive"},
      {ShareDirectory() / "kernel_templates" / "gemm_batched", "naive"},
      {ShareDirectory() / "kernel_templates" / "gemm_tall_skinny", "naive"}};
  std::size_t number = 0;
  for (const auto& [folder, kernel] : places) {
    SCOPED_TRACE(fmt::format("{}/{}", folder.filename().string(), kernel));
    const Task task = LoadTask(folder);
    Parent parent(LoadTemplate(folder / fmt::format("{}.cu", kernel)));
    const SourceMutator& mutator = SourceMutatorNamed("tile_contraction");
    const auto proposals = mutator.Proposals(parent.Context());
    ASSERT_FALSE(proposals.empty());
    const bool floats = proposals.size() == 3;
    EXPECT_EQ(floats, task.arguments.front().dtype == Dtype::kF32) << proposals.size();
    parent.genome.edits = {mutator.EditOf(parent.Context(), proposals.front())};
    const Parameters of_template = parent.genome.parameters;
    // One setting each, and all for the first kernel: a child takes three seconds to compile.
    ++number;
    for (std::size_t i = 0; i < kTileSettings.size(); ++i) {
      if (number > 1 && i != number % kTileSettings.size()) continue;
      parent.genome.parameters = of_template;
      ExpectRight(task, parent, floats ? kRingSettings[i] : kTileSettings[i]);
    }
  }
}

// Reductions of several styles, two launches rewritten at once and one alone, with every access checked.
TEST_F(ChildrenTest, OfReductions) {
  const std::filesystem::path samples = EVO_SAMPLE_TASKS;
  const std::vector<std::tuple<std::filesystem::path, const char*, Parameters>> places{
      {samples / "sample_energy", "two_each", {}},
      {samples / "sample_energy", "cache", {{"THREADS", 64}, {"ITEMS", 2}, {"VECTOR", 2}}},
      {samples / "sample_energy", "atomics", {{"BLOCKS", 16}}},
      {samples / "sample_energy", "interleaved", {{"THREADS", 1024}, {"ITEMS", 1}, {"VECTOR", 1}}},
      {samples / "sample_energy", "block_total", {{"THREADS", 32}, {"ITEMS", 8}}},
      {samples / "sample_peak", "rows", {}},
      {samples / "sample_peak", "rows", {{"THREADS", 64}}},
      {ShareDirectory() / "kernel_templates" / "mean_square_error", "naive", {{"BLOCKS", 16}, {"THREADS", 64}}}};
  const SourceMutator& mutator = SourceMutatorNamed("reduce_grid");
  for (const auto& [folder, kernel, setting] : places) {
    SCOPED_TRACE(fmt::format("{}/{}", folder.filename().string(), kernel));
    const Task task = LoadTask(folder);
    Parent parent(LoadTemplate(folder / fmt::format("{}.cu", kernel)));
    const auto proposals = mutator.Proposals(parent.Context());
    ASSERT_FALSE(proposals.empty());
    // The last proposal for the second entry of a kernel.
    const Proposal& proposal =
        setting.contains("THREADS") && folder.filename() == "sample_peak" ? proposals.back() : proposals.front();
    parent.genome.edits = {mutator.EditOf(parent.Context(), proposal)};
    ExpectRight(task, parent, setting);
  }
}

// Scans of several styles, with every access checked: tiles of several sizes, the last of them in part, fewer elements than a
// tile.
TEST_F(ChildrenTest, OfScans) {
  const std::filesystem::path shipped = ShareDirectory() / "kernel_templates";
  const std::filesystem::path sample = std::filesystem::path(EVO_SAMPLE_TASKS) / "sample_running";
  const auto own = [](const char* text) { return ParseTemplate("own", text); };
  const std::vector<std::tuple<std::filesystem::path, KernelTemplate, Parameters>> places{
      {sample, LoadTemplate(sample / "chunks.cu"), {{"THREADS", 512}, {"ITEMS", 4}}},
      {shipped / "prefix_sum", LoadTemplate(shipped / "prefix_sum" / "naive.cu"), {}},
      {shipped / "prefix_sum", own(kShuffles), {{"THREADS", 128}, {"ITEMS", 4}}},
      {shipped / "prefix_sum", own(kSerial), {{"THREADS", 1024}, {"ITEMS", 32}}},
      {shipped / "prefix_sum_exclusive",
       LoadTemplate(shipped / "prefix_sum_exclusive" / "naive.cu"),
       {{"BLOCK", 64}, {"ITEMS", 8}}},
      {shipped / "prefix_sum_exclusive", own(kSweeps), {{"THREADS", 128}, {"ITEMS", 4}}},
      {shipped / "prefix_sum_exclusive", own(kReadTwice), {{"THREADS", 256}, {"ITEMS", 32}}}};
  const SourceMutator& mutator = SourceMutatorNamed("look_back_scan");
  for (const auto& [folder, kernel, setting] : places) {
    SCOPED_TRACE(kernel.text);
    const Task task = LoadTask(folder);
    Parent parent(kernel);
    // What it is made from is right, too. One addition after another is further off than the task allows.
    if (kernel.steps.size() > 1) {
      const auto failure = Judge(task, parent.rendering.source, true);
      EXPECT_FALSE(failure) << failure->message;
    }
    const auto proposals = mutator.Proposals(parent.Context());
    ASSERT_EQ(proposals.size(), 1u);
    parent.genome.edits = {mutator.EditOf(parent.Context(), proposals.front())};
    for (const BroughtParameter& brought : proposals.front().brings) parent.genome.parameters[brought.name] = brought.initial;
    ExpectRight(task, parent, setting);
  }
}

// On tensor cores, with every access checked: both orders of both factors, ragged edges, one warp and several.
TEST_F(ChildrenTest, OfProductsOnTensorCores) {
  const auto tiles = [](const std::array<std::int64_t, 6>& sizes) {
    const auto& [m, n, k, warps_m, warps_n, stages] = sizes;
    return Parameters{{"TILE_M", m},        {"TILE_N", n},        {"TILE_K", k},
                      {"WARPS_M", warps_m}, {"WARPS_N", warps_n}, {"STAGES", stages}};
  };
  const std::filesystem::path samples = EVO_SAMPLE_TASKS, shipped = ShareDirectory() / "kernel_templates";
  constexpr auto halves = "tensor_contraction", floats = "split_tensor_contraction", bytes = "integer_tensor_contraction";
  const std::vector<std::tuple<const char*, std::filesystem::path, const char*, Parameters>> places{
      {halves, samples / "sample_half_product", "flat", tiles({32, 64, 32, 2, 1, 3})},
      {halves, samples / "sample_half_product", "columns", tiles({16, 32, 16, 1, 1, 2})},
      {halves, samples / "sample_half_layer", "relu", tiles({64, 32, 16, 2, 1, 4})},
      {halves, samples / "sample_half_product", "simple", {}},
      {halves, shipped / "linear_gelu_bf16", "naive", tiles({32, 32, 64, 1, 2, 2})},
      {floats, samples / "sample_product", "flat", tiles({32, 64, 32, 2, 1, 3})},
      {floats, samples / "sample_product", "columns", tiles({16, 32, 16, 1, 1, 2})},
      {floats, samples / "sample_product", "pointers", tiles({64, 32, 16, 2, 2, 4})},
      {bytes, samples / "sample_byte_layer", "flat", tiles({32, 64, 32, 2, 1, 3})},
      {bytes, samples / "sample_byte_layer", "flat", {}},
      {bytes, samples / "sample_byte_layer", "pointers", tiles({16, 32, 32, 1, 1, 2})},
      {bytes, samples / "sample_byte_gram", "images", tiles({64, 32, 128, 2, 2, 4})},
      {bytes, shipped / "gemm_int8", "naive", tiles({64, 64, 64, 2, 2, 3})},
      {floats, shipped / "gemm_batched", "naive", tiles({32, 32, 32, 1, 2, 2})},
      {floats, shipped / "linear_gelu", "naive", tiles({64, 64, 16, 2, 2, 3})}};
  for (const auto& [name, folder, kernel, setting] : places) {
    SCOPED_TRACE(fmt::format("{} of {}/{}", name, folder.filename().string(), kernel));
    Parent parent(LoadTemplate(folder / fmt::format("{}.cu", kernel)));
    const SourceMutator& mutator = SourceMutatorNamed(name);
    parent.genome.edits = {mutator.EditOf(parent.Context(), mutator.Proposals(parent.Context()).at(0))};
    ExpectRight(LoadTask(folder), parent, setting);
  }
}

// By products of warp groups, with every access checked: both orders of both factors, ragged edges, one group and several.
TEST_F(ChildrenTest, OfProductsByWarpGroups) {
  const auto tiles = [](std::int64_t m, std::int64_t n, std::int64_t rows, std::int64_t stages) {
    return Parameters{{"TILE_M", m}, {"TILE_N", n}, {"GROUP_ROWS", rows}, {"STAGES", stages}};
  };
  const std::filesystem::path samples = EVO_SAMPLE_TASKS, shipped = ShareDirectory() / "kernel_templates";
  constexpr auto halves = "warp_group_contraction", bytes = "integer_warp_group_contraction";
  const std::vector<std::tuple<const char*, std::filesystem::path, const char*, Parameters>> places{
      {halves, samples / "sample_half_product", "flat", tiles(128, 128, 128, 3)},
      {halves, samples / "sample_half_product", "columns", tiles(128, 128, 64, 4)},
      {halves, shipped / "linear_gelu_bf16", "naive", tiles(64, 256, 64, 3)},
      {bytes, samples / "sample_byte_layer", "pointers", tiles(128, 128, 128, 3)},
      {bytes, samples / "sample_byte_gram", "images", tiles(128, 128, 64, 4)},
      {bytes, samples / "sample_mixed_layer", "activations", tiles(64, 128, 64, 5)},
      {bytes, samples / "sample_word_product", "dp4a", tiles(128, 128, 64, 3)},
      {bytes, samples / "sample_word_product", "casts", tiles(64, 128, 64, 4)},
      {bytes, shipped / "gemm_int8", "naive", tiles(64, 256, 64, 3)}};
  for (const auto& [name, folder, kernel, setting] : places) {
    const SourceMutator& mutator = SourceMutatorNamed(name);
    SCOPED_TRACE(fmt::format("{}/{}", folder.filename().string(), kernel));
    const Task task = LoadTask(folder);
    Parent parent(LoadTemplate(folder / fmt::format("{}.cu", kernel)));
    const auto proposals = mutator.Proposals(parent.Context());
    ASSERT_GE(proposals.size(), 2u);
    parent.genome.edits = {mutator.EditOf(parent.Context(), proposals.front())};
    ExpectRight(task, parent, setting);
  }
}

// Attention on tensor cores, with every access checked: passes of three kinds, lengths that are no multiples of tiles, causal
// rows, heads that share keys, both types.
TEST_F(ChildrenTest, OfAttentions) {
  const auto sizes = [](std::int64_t keys, std::int64_t warps, std::int64_t rows, std::int64_t stages) {
    return Parameters{{"TILE_KEYS", keys}, {"WARPS", warps}, {"WARP_ROWS", rows}, {"STAGES", stages}};
  };
  const std::filesystem::path samples = EVO_SAMPLE_TASKS, shipped = ShareDirectory() / "kernel_templates";
  const std::vector<std::tuple<std::filesystem::path, const char*, Parameters>> places{
      {samples / "sample_attention", "online", {}},
      {samples / "sample_attention", "scores", sizes(32, 1, 32, 3)},
      {samples / "sample_causal_attention", "lines", sizes(32, 2, 16, 2)},
      {shipped / "attention", "naive", sizes(32, 1, 16, 2)},
      {shipped / "attention_bf16", "naive", {}},
      {shipped / "attention_gqa", "naive", sizes(32, 2, 16, 3)},
      {shipped / "attention_causal_d128", "naive", sizes(64, 1, 16, 2)},
      {shipped / "attention_decode", "naive", {{"PARTS", 8}, {"WARPS", 2}, {"LANES", 16}, {"STEP_KEYS", 4}}}};
  for (const auto& [folder, kernel, setting] : places) {
    SCOPED_TRACE(fmt::format("{}/{}", folder.filename().string(), kernel));
    const Task task = LoadTask(folder);
    Parent parent(LoadTemplate(folder / fmt::format("{}.cu", kernel)));
    const SourceMutator& mutator = SourceMutatorNamed("fuse_attention");
    const auto proposals = mutator.Proposals(parent.Context());
    EXPECT_EQ(proposals.size(), 2u);
    if (proposals.empty()) continue;
    parent.genome.edits = {mutator.EditOf(parent.Context(), proposals.front())};
    ExpectRight(task, parent, setting);
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

// Checks nothing, but prints how many children of each mutator are correct, on the templates of all tasks.
// EVO_SURVEY_MUTATORS=a,b, EVO_SURVEY_TASKS=a,b and EVO_SURVEY_MOST=n (children per mutator and template) restrict it.
// EVO_SURVEY_VERBOSE=1 prints the children, EVO_SURVEY_CHECKED=1 looks for races, too.
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
