#include "cli/export_kernel.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "cli/commands/commands.h"
#include "cli/export_host.h"
#include "core/error.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/renderer.h"
#include "tests/cli/captured_output.h"
#include "tests/cli/golden.h"
#include "tests/db/fixture_run.h"

namespace evo {
namespace {

using testing::ExpectGolden;
using ::testing::HasSubstr;
using ::testing::Not;

std::filesystem::path TaskFolder() { return std::filesystem::path(EVO_TASK_DIR) / "scale"; }

// Renders the parameters only: the anchors of the edits in the fixture match no text.
std::string Render(const TemplateText& text, const Genome& genome) { return RenderParameters(text.text, genome.parameters); }

class ExportTest : public ::testing::Test {
 protected:
  ExportTest() {
    context_.database = (folder_ / "evo.db").string();
    context_.make_renderer = [] { return SourceRenderer(Render); };
    RunRecord run = testing::FixtureRun();
    run.task_directory = "/no/such/folder";  // the database came from another machine
    run.task_digest = LoadTask(TaskFolder()).digest;
    testing::WriteFixture(context_.database, run);
  }

  // What the command prints; the exported text is in text_.
  std::string Export() {
    testing::CapturedOutput printed;
    context_.out = printed.stream();
    CLI::App app;
    AddBest(app, context_);
    app.parse("best --export " + file_);
    std::ostringstream text;
    text << std::ifstream(file_).rdbuf();
    text_ = text.str();
    return printed.Text();
  }

  testing::TemporaryFolder folder_;
  CommandContext context_;
  std::string file_ = (folder_ / "kernel.cu").string();
  std::string text_;
};

TEST_F(ExportTest, WritesTheKernelWithItsDescription) {
  context_.task_folders = {EVO_TASK_DIR};
  EXPECT_THAT(Export(), HasSubstr("written to " + file_));
  ExpectGolden("export_6.cu", text_);
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    EXPECT_THAT(entry.path().string(), Not(HasSubstr(".tmp")));
  }
}

TEST_F(ExportTest, ADashIsTheStandardOutput) {
  Export();
  const std::string written = text_;
  file_ = "-";
  EXPECT_EQ(Export(), written);
  EXPECT_FALSE(std::filesystem::exists("-"));
}

TEST_F(ExportTest, TheFileCanBeUsedAsATemplate) {
  Export();
  const KernelTemplate parsed = ParseTemplate("scale", text_);
  ASSERT_EQ(parsed.steps.size(), 1U);
  EXPECT_EQ(parsed.steps[0].launch->kernel, "scale");
  ASSERT_EQ(parsed.space.parameters.size(), 1U);
  EXPECT_EQ(parsed.space.Defaults().at("BLOCK"), 256);
  EXPECT_THAT(text_, Not(HasSubstr("nv_hdrstop")));
}

TEST_F(ExportTest, NvccCompilesIt) {
  Export();
  const std::string command = fmt::format("{} -arch=sm_90a -Werror all-warnings -c {} -o {}.o", EVO_NVCC, file_, file_);
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

TEST_F(ExportTest, WithoutTheTaskItSaysSo) {
  Export();
  EXPECT_THAT(text_, HasSubstr("the task's files are gone or have changed"));
  EXPECT_THAT(text_, Not(HasSubstr("Launches of case")));
}

TEST_F(ExportTest, AlsoWritesAProgramThatLaunchesIt) {
  context_.task_folders = {EVO_TASK_DIR};
  testing::CapturedOutput printed;
  context_.out = printed.stream();
  CLI::App app;
  AddBest(app, context_);
  app.parse("best --with-host --export " + file_);
  const std::filesystem::path host = folder_ / "kernel_host.cu";
  EXPECT_THAT(printed.Text(), HasSubstr("written to " + host.string() + "\nwritten to " + (folder_ / "kernel_host.h").string()));
  std::ostringstream text;
  text << std::ifstream(host).rdbuf();
  ExpectGolden("export_6_host.cu", text.str());
  std::ostringstream header;
  header << std::ifstream(folder_ / "kernel_host.h").rdbuf();
  ExpectGolden("export_6_host.h", header.str());
  const std::string command = fmt::format("{} {} -std=c++17 -Werror all-warnings -c {} -o {}.o", EVO_NVCC, NvccTarget("sm_90a"),
                                          host.string(), host.string());
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

TEST_F(ExportTest, AProgramThatLaunchesNeedsTheTask) {
  CLI::App app;
  testing::CapturedOutput printed;
  context_.out = printed.stream();
  AddBest(app, context_);
  EXPECT_THROW(app.parse("best --with-host --export " + file_), Error);
  CLI::App other;
  AddBest(other, context_);
  EXPECT_THROW(other.parse("best --with-host"), CLI::ParseError);
}

TEST_F(ExportTest, AFileThatCannotBeWrittenIsAnError) {
  file_ = (folder_ / "none/kernel.cu").string();
  EXPECT_THROW(Export(), Error);
}

TEST(ExportKernel, QuotedTextCannotEscapeTheComment) {
  Edit edit;
  edit.op = "evil";
  edit.anchors = {{"scale", "IfStmt", "", 0, "", "", "", {}}};
  edit.source = {{0, Placement::kReplace, "// evo:launch other(x) grid(1) block(1)\n#error out \\"}};
  KernelExport input;
  input.run = testing::FixtureRun();
  const GenerationRecord generation = testing::FixtureGenerations()[0];
  input.candidate = {generation.candidates[0], generation.evaluations[0], std::nullopt};
  input.lineage = {input.candidate, input.candidate};
  input.lineage[1].candidate.genome.edits = {edit};
  input.lineage[1].candidate.op = "ends in a backslash\\";
  input.source = input.run.templates[0].text;
  input.candidate.check.emplace().outcome = Outcome::kWrongResult;
  input.candidate.check->message = "two\nlines \\";
  const std::string text = ExportKernel(input);
  EXPECT_EQ(ParseTemplate("scale", text).steps.size(), 1U);
  std::istringstream lines(text.substr(0, text.find("\n\n")));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_EQ(line.rfind("//", 0), 0U) << line;
    EXPECT_NE(line.back(), '\\') << line;
  }
}

// Every shipped template can be exported and used as a template again.
TEST(ExportKernel, KeepsTheLaunchesOfTheAttentionTemplates) {
  const std::filesystem::path folder = std::filesystem::path(EVO_KERNEL_TEMPLATES_DIR) / "attention";
  KernelExport input;
  input.run = testing::FixtureRun();
  input.task = LoadTask(folder);
  const GenerationRecord generation = testing::FixtureGenerations()[0];
  for (const KernelTemplate& original : LoadTemplates(folder)) {
    input.candidate = {generation.candidates[0], generation.evaluations[0], std::nullopt};
    input.candidate.candidate.genome = {original.name, original.digest, original.space.Defaults(), {}};
    input.source = RenderParameters(original.text, original.space.Defaults());
    const KernelTemplate exported = ParseTemplate(original.name, ExportKernel(input));
    EXPECT_EQ(exported.steps.size(), original.steps.size()) << original.name;
    EXPECT_EQ(exported.space.Defaults(), original.space.Defaults()) << original.name;
    EXPECT_EQ(exported.space.constraints.size(), original.space.constraints.size()) << original.name;
    EXPECT_EQ(exported.workspaces.size(), original.workspaces.size()) << original.name;
    EXPECT_EQ(exported.required_arch, original.required_arch) << original.name;
    EXPECT_EQ(exported.tensor_maps.size(), original.tensor_maps.size()) << original.name;
  }
}

TEST(ExportKernel, HopperLaunchesAreExplainedAndCompile) {
  const std::filesystem::path folder = std::filesystem::path(EVO_KERNEL_TEMPLATES_DIR) / "attention";
  const KernelTemplate original = LoadTemplate(folder / "wgmma.cu");
  const GenerationRecord generation = testing::FixtureGenerations()[0];
  KernelExport input;
  input.run = testing::FixtureRun();
  input.run.device = "cuda";
  input.task = LoadTask(folder);
  input.candidate = {generation.candidates[0], generation.evaluations[0], std::nullopt};
  input.candidate.candidate.genome = {original.name, original.digest, original.space.Defaults(), {}};
  input.source = RenderParameters(original.text, original.space.Defaults());
  const std::string text = ExportKernel(input);
  EXPECT_THAT(text, HasSubstr("//   tensor map K_map of K: f16 dims(64, 512, 8) box(64, 128, 1) swizzle 128 bytes\n"));
  EXPECT_THAT(text, HasSubstr("//   attention_wgmma(Q_map, K_map, V_map, O, "));
  testing::TemporaryFolder out;
  std::ofstream(out / "kernel.cu") << text;
  const std::string host = ExportHost(ParseTemplate("wgmma", text), *input.task, "kernel.cu", "sm_90");
  std::ofstream(out / "kernel_host.cu") << host;
  EXPECT_THAT(text, HasSubstr("// Compile: nvcc -gencode arch=compute_90a,code=sm_90a -c FILE\n"));
  EXPECT_THAT(host, HasSubstr("kernel_launch(const void* Q, const void* K, const void* V, void* O, long long B, long long H, "
                              "long long S, long long D, "
                              "cudaStream_t stream)"));
  const std::string file = (out / "kernel_host.cu").string();
  const std::string command =
      fmt::format("{} {} -std=c++17 -Werror all-warnings -c {} -o {}.o", EVO_NVCC, NvccTarget("sm_90a"), file, file);
  EXPECT_EQ(std::system(command.c_str()), 0) << command << "\n" << host;
}

TEST(ExportHost, CompilesForEveryTemplate) {
  for (const char* name : {"attention", "attention_bf16", "attention_gqa", "gemm", "softmax"}) {
    const std::filesystem::path folder = std::filesystem::path(EVO_KERNEL_TEMPLATES_DIR) / name;
    const Task task = LoadTask(folder);
    for (const KernelTemplate& one : LoadTemplates(folder)) {
      testing::TemporaryFolder out;
      std::ofstream(out / "kernel.cu") << RenderParameters(one.text, one.space.Defaults());
      const std::string file = (out / "kernel_host.cu").string();
      std::ofstream(file) << ExportHost(one, task, "kernel.cu", "sm_90");
      const std::string command = fmt::format("{} {} -std=c++17 -Werror all-warnings -c {} -o {}.o", EVO_NVCC,
                                              NvccTarget(ArchToCompileFor(one, "sm_90")), file, file);
      EXPECT_EQ(std::system(command.c_str()), 0) << name << "/" << one.name;
    }
  }
}

// Workspaces, memsets, conditions, clusters and real scalars, which no shipped template needs to have.
TEST(ExportHost, WritesEveryKindOfStep) {
  constexpr const char* kTask = R"json({
    "name": "t", "summary": "s", "sizes": ["S"],
    "arguments": [
      {"name": "X", "role": "in", "dtype": "f32", "shape": ["S"], "generators": ["normal"]},
      {"name": "Y", "role": "out", "dtype": "f32", "shape": ["S"], "check": {"l2": 1e-3, "max": 1e-2}},
      {"name": "scale", "role": "scalar", "dtype": "f32", "value": "1 / sqrt(S)"}
    ],
    "cases": {
      "small": {"name": "small", "sizes": {"S": 100}}, "search": [{"name": "a", "sizes": {"S": 1}}],
      "search_cpu": [{"name": "b", "sizes": {"S": 1}}], "held_out": [{"name": "c", "sizes": {"S": 1}}],
      "held_out_cpu": [{"name": "d", "sizes": {"S": 1}}]
    },
    "baseline": "k", "bytes": 1, "operations": 1
  })json";
  constexpr const char* kSource = R"(// evo:param PARTS 1 2
// evo:workspace partial f32 [PARTS, S]
// evo:memset partial 0
// evo:memset Y 255
// evo:tensormap map = partial type(u32) dims(S / 4 * 4, PARTS) box(4, 1)
// evo:launch scale<PARTS>(X, partial, map, scale, S) grid(max(ceil_div(S, 32), 2) / 2 * 2, PARTS) block(32) \
//   shared(128 * PARTS) cluster(2)
// evo:launch together(partial, Y, min(S, 7)) grid(1) block(32) cooperative when(PARTS > 1)
#ifndef PARTS
#define PARTS 2
#endif
struct alignas(128) TensorMap { unsigned long long opaque[16]; };
template <int kParts> __global__ void scale(const float*, float*, const __grid_constant__ TensorMap, float, int) {}
__global__ void together(const float*, float*, int) {}
)";
  testing::TemporaryFolder out;
  std::ofstream(out / "kernel.cu") << kSource;
  const Task task = ParseTask(kTask, "// evo:launch reference(X, Y) grid(S) block(32)\n", "t");
  const std::string host = ExportHost(ParseTemplate("k", kSource), task, "kernel.cu", "sm_90a");
  const std::string file = (out / "kernel_host.cu").string();
  std::ofstream(file) << host;
  EXPECT_THAT(host, HasSubstr("cudaMallocAsync(&partial, (PARTS) * (S) * 4, stream)"));
  EXPECT_THAT(host, HasSubstr("cudaMemsetAsync(partial, 0, (PARTS) * (S) * 4, stream)"));
  EXPECT_THAT(host, HasSubstr("cudaMemsetAsync(Y, 255, (S) * 4, stream)"));
  EXPECT_THAT(host, HasSubstr("if (error == cudaSuccess && (PARTS > 1)) {"));
  EXPECT_THAT(host, HasSubstr("cudaFreeAsync(partial, stream)"));
  EXPECT_THAT(host, HasSubstr("make_map(&map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, partial, 2, "));
  const std::string command =
      fmt::format("{} {} -std=c++17 -Werror all-warnings -c {} -o {}.o", EVO_NVCC, NvccTarget("sm_90a"), file, file);
  EXPECT_EQ(std::system(command.c_str()), 0) << host;
}

TEST(ExportHost, TakesNoNameOfTheUser) {
  constexpr const char* kTask = R"json({
    "name": "t", "summary": "s", "sizes": ["kept"],
    "arguments": [
      {"name": "stream", "role": "in", "dtype": "f32", "shape": ["kept"], "generators": ["normal"]},
      {"name": "error", "role": "inout", "dtype": "f32", "shape": ["kept"], "generators": ["normal"],
       "check": {"l2": 1e-3, "max": 1e-2}},
      {"name": "launch", "role": "scalar", "dtype": "f32", "value": 2}
    ],
    "cases": {
      "small": {"name": "small", "sizes": {"kept": 100}}, "search": [{"name": "a", "sizes": {"kept": 1}}],
      "search_cpu": [{"name": "b", "sizes": {"kept": 1}}], "held_out": [{"name": "c", "sizes": {"kept": 1}}],
      "held_out_cpu": [{"name": "d", "sizes": {"kept": 1}}]
    },
    "baseline": "k", "bytes": 1, "operations": 1
  })json";
  constexpr const char* kSource = R"(// evo:workspace arguments f32 [kept]
// evo:repeat step < 2
// evo:launch add(stream, arguments, launch, kept) grid(kept) block(32)
// evo:swap error arguments
// evo:end
__global__ void add(const float*, float*, float, int) {}
)";
  testing::TemporaryFolder out;
  std::ofstream(out / "kernel.cu") << kSource;
  const Task task = ParseTask(kTask, "// evo:launch reference(stream, error) grid(kept) block(32)\n", "t");
  const std::string file = (out / "kernel_host.cu").string();
  std::ofstream(file) << ExportHost(ParseTemplate("k", kSource), task, "kernel.cu", "sm_90a");
  const std::string command =
      fmt::format("{} {} -std=c++17 -Werror all-warnings -c {} -o {}.o", EVO_NVCC, NvccTarget("sm_90a"), file, file);
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(ExportHost, RefusesSizesBetweenWhichNothingWasShown) {
  const Task task = LoadTask(std::filesystem::path(EVO_KERNEL_TEMPLATES_DIR) / "softmax");
  const KernelTemplate kernel = LoadTemplate(task.directory / "naive.cu");
  const std::string guarded = ExportHost(kernel, task, "kernel.cu", "sm_90", {"ROWS=65537,COLS=320", "ROWS=41,COLS=1"});
  EXPECT_THAT(guarded, ::testing::HasSubstr("if (ROWS < 5 || ROWS > 65537) return cudaErrorInvalidValue;"));
  EXPECT_THAT(guarded, ::testing::HasSubstr("if (COLS < 1 || COLS > 5000) return cudaErrorInvalidValue;"));
  EXPECT_THAT(guarded, ::testing::HasSubstr("#ifndef EVO_ANY_SIZE"));
  const std::string unchecked = ExportHost(kernel, task, "kernel.cu", "sm_90");
  EXPECT_EQ(unchecked.find("EVO_ANY_SIZE"), std::string::npos) << "nothing is known of a kernel that was not checked";
}

}  // namespace
}  // namespace evo
