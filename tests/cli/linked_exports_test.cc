// Exports of several kernels in one program.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "cli/export_host.h"
#include "cli/export_kernel.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/renderer.h"
#include "kernel_templates/task.h"
#include "tests/db/fixture_run.h"

namespace evo {
namespace {

// Names of an object that others see, without what the headers of CUDA and of the standard library define.
std::set<std::string> GlobalNames(const std::filesystem::path& object) {
  const std::string list = object.string() + ".names";
  EXPECT_EQ(std::system(fmt::format("nm --defined-only --extern-only --format=posix {} > {}", object.string(), list).c_str()), 0);
  std::set<std::string> names;
  std::ifstream lines(list);
  for (std::string line; std::getline(lines, line);) names.insert(line.substr(0, line.find(' ')));
  return names;
}

std::set<std::string> Common(const std::set<std::string>& a, const std::set<std::string>& b) {
  std::set<std::string> common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(common, common.end()));
  return common;
}

struct Exported {
  std::string name;  // of the file, without .cu
  std::string source;
  std::string task;
};

// Exports kernels of equal signatures, and a template of one name with different contents, and links them into one program of two
// files that include all headers.
TEST(LinkedExports, KernelsOfOneProgramHaveNoNamesInCommon) {
  const auto rendered = [](const std::string& task, const std::string& kernel, Parameters changed) {
    const KernelTemplate read = LoadTemplate(std::filesystem::path(EVO_KERNEL_TEMPLATES_DIR) / task / (kernel + ".cu"));
    Parameters parameters = read.space.Defaults();
    for (const auto& [name, value] : changed) parameters.at(name) = value;
    return RenderParameters(read.text, parameters);
  };
  const std::string generic =
      "// evo:launch rows<BLOCK>(X, Y, ROWS) grid(ROWS) block(BLOCK)\n#ifndef BLOCK\n#define BLOCK 32\n#endif\n"
      "template <int kBlock> __global__ void rows(const float* x, float* y, int n) { y[n] = FACTOR * x[kBlock]; }\n";
  std::string other = generic;
  other.replace(other.find("FACTOR"), 6, "3.0f");
  std::string one = generic;
  one.replace(one.find("FACTOR"), 6, "2.0f");
  // Constants, loops, structs, casts and namespaces.
  const std::string parts =
      "// evo:workspace w f32 [ROWS]\n// evo:workspace v f32 [ROWS]\n// evo:constant parts::table = X\n"
      "// evo:repeat T < ROWS / 2\n"
      "// evo:launch parts::step<float>(w, v, T, bool(T > 0), i64(ROWS), {X, f32(0.5), ROWS}) grid(ROWS) block(32)\n"
      "// evo:swap w v\n// evo:end\n// evo:launch last(w, Y) grid(ROWS) block(32)\n"
      "namespace parts {\n__constant__ float table[4];\nstruct Shape { const float* x; float a; int n; };\n"
      "template <class T> __global__ void step(const T* w, T* v, int t, bool later, long long n, Shape s) {\n"
      "  v[n - 1] = w[t] + (later ? table[1] : s.a) + s.x[s.n];\n}\n}\n"
      "static __global__ void last(const float* w, float* y) { y[blockIdx.x] = w[blockIdx.x]; }\n";
  const std::vector<Exported> all{{"parts", parts, "softmax"},
                                  {"same_parts", parts + "// Another.\n", "softmax"},
                                  {"softmax", rendered("softmax", "naive", {}), "softmax"},
                                  {"row_sum", rendered("row_sum", "naive", {}), "row_sum"},
                                  {"wide", rendered("softmax", "naive", {{"BLOCK", 256}}), "softmax"},
                                  {"one", one, "softmax"},
                                  {"other", other, "softmax"}};
  testing::TemporaryFolder out;
  std::string objects;
  std::string uses = "int Use() {\n  return 0";
  std::string includes;
  std::vector<std::set<std::string>> names;
  for (const Exported& each : all) {
    const Task task = LoadTask(std::filesystem::path(EVO_KERNEL_TEMPLATES_DIR) / each.task);
    const KernelTemplate kernel = ParseTemplate(each.name, each.source);
    std::ofstream(out / (each.name + ".cu")) << WithoutHeaderStop(each.source);
    std::ofstream(out / (each.name + "_host.cu")) << ExportHost(kernel, task, each.name + ".cu", "sm_90");
    std::ofstream(out / (each.name + "_host.h")) << ExportHeader(kernel, task, each.name + ".cu");
    const std::string object = (out / (each.name + ".o")).string();
    const std::string command = fmt::format("{} -std=c++17 -arch=sm_90 -Werror all-warnings -c {} -o {}", EVO_NVCC,
                                            (out / (each.name + "_host.cu")).string(), object);
    ASSERT_EQ(std::system(command.c_str()), 0) << each.name;
    objects += " " + object;
    includes += fmt::format("#include \"{}_host.h\"\n", each.name);
    uses += fmt::format(" + {}_launch(nullptr, nullptr, 0, 0, nullptr)", each.name);
    names.push_back(GlobalNames(object));
    EXPECT_TRUE(std::any_of(names.back().begin(), names.back().end(),
                            [&](const std::string& name) { return name.find(each.name + "_launch") != std::string::npos; }));
  }
  std::ofstream(out / "empty.cu")
      << "#include <cuda_runtime.h>\n#include <cmath>\n__global__ void k() {}\nvoid F() { k<<<1, 1>>>(); }\n";
  const std::string empty = (out / "empty").string();
  ASSERT_EQ(std::system(fmt::format("{0} -std=c++17 -arch=sm_90 -c {1}.cu -o {1}.o", EVO_NVCC, empty).c_str()), 0);
  const std::set<std::string> of_headers = GlobalNames(empty + ".o");
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      for (const std::string& name : Common(names[i], names[j]))
        EXPECT_TRUE(of_headers.contains(name)) << name << " is in " << all[i].name << " and in " << all[j].name;
    }
  }
  std::ofstream(out / "main.cu") << includes << "int Use();\nint main() { return Use(); }\n";
  std::ofstream(out / "use.cu") << includes << includes << uses << ";\n}\n";
  const std::string link =
      fmt::format("cd {} && {} -std=c++17 -arch=sm_90 main.cu use.cu{} -o program", out.path().string(), EVO_NVCC, objects);
  EXPECT_EQ(std::system(link.c_str()), 0);
}

}  // namespace
}  // namespace evo
