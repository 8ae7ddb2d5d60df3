#include "kernel_templates/task.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/error.h"
#include "tests/kernel_templates/failure.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAxpyTask = R"json({
  "name": "scale",
  "summary": "Y = a X",
  "notes": ["why", "so"],
  "sizes": ["N", "M"],
  "arguments": [
    {"name": "X", "role": "in", "dtype": "f16", "shape": ["N", "2 * M"], "generators": ["normal", "uniform(-1,1)"]},
    {"name": "I", "role": "in", "dtype": "i32", "shape": ["N"], "generators": ["index<M"]},
    {"name": "Y", "role": "out", "dtype": "f16", "shape": ["N", 8], "check": {"l2": 1e-3, "max": 0.02}},
    {"name": "Z", "role": "inout", "dtype": "i32", "shape": ["N"], "generators": ["index<7"], "check": "exact"},
    {"name": "a", "role": "scalar", "dtype": "f32", "value": "1 / sqrt(M)"},
    {"name": "n", "role": "scalar", "dtype": "i32", "value": "N * M"}
  ],
  "determinism": "tolerance",
  "cases": {
    "small": {"name": "small", "sizes": {"N": 3, "M": 4}},
    "search": [{"name": "big", "sizes": {"N": 300, "M": 4}, "weight": 2}, {"name": "bigger", "sizes": {"N": 600, "M": 4}}],
    "search_cpu": [{"name": "cpu", "sizes": {"N": 30, "M": 4}}],
    "held_out": [{"name": "odd", "sizes": {"N": 7, "M": 5}}],
    "held_out_cpu": [{"name": "odd_cpu", "sizes": {"N": 5, "M": 5}}]
  },
  "baseline": "naive",
  "bytes": "N * M * 2",
  "operations": 5
})json";
constexpr const char* kReference = "// evo:launch reference(X, I, Y, Z, a, N) grid(N) block(32)\n";

TEST(Task, ReadsEverything) {
  const Task task = ParseTask(kAxpyTask, kReference, "tasks/scale");
  EXPECT_EQ(task.name, "scale");
  EXPECT_EQ(task.summary, "Y = a X");
  EXPECT_EQ(task.directory, fs::path("tasks/scale"));
  EXPECT_EQ(task.json, kAxpyTask);
  EXPECT_EQ(task.reference, kReference);
  EXPECT_THAT(task.size_names, testing::ElementsAre("N", "M"));
  ASSERT_EQ(task.arguments.size(), 6u);
  EXPECT_EQ(task.arguments[0].generators.at(1).text, "uniform(-1,1)");
  EXPECT_EQ(task.arguments[2].role, Role::kOut);
  EXPECT_EQ(task.arguments[2].check.l2, 1e-3);
  EXPECT_EQ(task.arguments[2].check.max, 0.02);
  EXPECT_EQ(task.arguments[3].role, Role::kInOut);
  EXPECT_EQ(task.arguments[3].check.kind, OutputCheck::Kind::kExact);
  EXPECT_EQ(task.determinism, Determinism::kTolerance);
  EXPECT_EQ(task.small.sizes.at("N"), 3);
  ASSERT_EQ(task.search_cuda.size(), 2u);
  EXPECT_EQ(task.search_cuda[0].weight, 2);
  EXPECT_EQ(task.search_cuda[1].weight, 1);
  EXPECT_EQ(task.search_cpu.at(0).name, "cpu");
  EXPECT_EQ(task.held_out.at(0).name, "odd");
  EXPECT_EQ(task.held_out_cpu.at(0).name, "odd_cpu");
  EXPECT_EQ(task.baseline, "naive");
}

TEST(Task, OnlyAPartOfAnOutputMayCount) {
  const auto with = [](const std::string& counted) {
    std::string text = kAxpyTask;
    const std::string check = "\"check\": \"exact\"";
    return text.replace(text.find(check), check.size(), check + ", \"counted\": " + counted);
  };
  const Task task = ParseTask(with("\"N - 1\""), kReference, "t");
  EXPECT_EQ(CountedElements(task.arguments[3], CaseVariables(task, task.small)), 2);
  EXPECT_EQ(CountedElements(task.arguments[2], CaseVariables(task, task.small)), 24);
  EXPECT_EQ(ParseTask(with("0"), kReference, "t").arguments[3].counted->text(), "0");
  EXPECT_EQ(UsageFailure([&] { ParseTask(with("\"N + 1\""), kReference, "t"); }),
            "t/task.json: case 'small': argument 'Z': 4 elements are counted; it has 3");
  EXPECT_EQ(UsageFailure([&] { ParseTask(with("\"K\""), kReference, "t"); }),
            "t/task.json: arguments[3].counted: 'K' is not a size; sizes are N, M");
}

TEST(Task, CaseGivesVariablesAndElementCounts) {
  const Task task = ParseTask(kAxpyTask, kReference, "t");
  const Variables variables = CaseVariables(task, task.small);
  EXPECT_EQ(variables.at("N"), Number::Integer(3));
  EXPECT_EQ(variables.at("a"), Number::Real(0.5));
  EXPECT_EQ(variables.at("n"), Number::Integer(12));
  EXPECT_EQ(ElementCount(task.arguments[0], variables), 24);
  EXPECT_EQ(task.bytes.EvaluateInteger(variables), 24);
  EXPECT_EQ(task.operations.EvaluateInteger(variables), 5);
}

TEST(Task, DigestCoversBothFiles) {
  const std::string digest = ParseTask(kAxpyTask, kReference, "t").digest;
  EXPECT_EQ(ParseTask(kAxpyTask, kReference, "elsewhere").digest, digest);
  EXPECT_NE(ParseTask(kAxpyTask, std::string(kReference) + "\n", "t").digest, digest);
  EXPECT_NE(ParseTask(std::string(kAxpyTask) + "\n", kReference, "t").digest, digest);
}

// The failure of the task's json after `from` in it was replaced.
std::string FailureWith(const std::string& from, const std::string& to) {
  std::string text = kAxpyTask;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  return UsageFailure([&] { ParseTask(text, kReference, "t"); });
}

TEST(Task, MalformedJsonGivesLineAndColumn) {
  EXPECT_THAT(FailureWith("\"summary\": ", "\"summary\" "), testing::StartsWith("t/task.json:3:21: not JSON: unexpected"));
  EXPECT_THAT(UsageFailure([] { ParseTask("", kReference, "t"); }), testing::StartsWith("t/task.json:1:1: not JSON: "));
  EXPECT_EQ(UsageFailure([] { ParseTask("[]", kReference, "t"); }), "t/task.json: expected an object, not a list");
  EXPECT_EQ(FailureWith("\"baseline\"", "\"bytes\": 1, \"baseline\""),
            "t/task.json: the key 'bytes' is given twice in one object");
}

TEST(Task, UnknownAndMissingKeysAreErrors) {
  EXPECT_EQ(
      FailureWith("\"notes\"", "\"note\""),
      "t/task.json: unknown key 'note'; there are name, summary, notes, sizes, arguments, determinism, domain, cases, baseline, "
      "reference, bytes, operations");
  EXPECT_EQ(
      FailureWith("\"role\": \"in\"", "\"roll\": \"in\""),
      "t/task.json: arguments[0]: unknown key 'roll'; there are name, role, dtype, shape, generators, derived, value, check, "
      "counted");
  EXPECT_EQ(FailureWith(", \"max\": 0.02", ""), "t/task.json: arguments[2].check: 'max' is missing");
  EXPECT_EQ(FailureWith("\"search_cpu\"", "\"search_gpu\""),
            "t/task.json: cases: unknown key 'search_gpu'; there are small, search, search_cpu, held_out, held_out_cpu");
  EXPECT_EQ(FailureWith("{\"name\": \"small\", ", "{\"weight\": 1, \"name\": \"small\", "),
            "t/task.json: cases.small: unknown key 'weight'; there are name, sizes, data, digest");
}

TEST(Task, ArgumentsAreChecked) {
  EXPECT_EQ(FailureWith("\"in\"", "\"input\""),
            "t/task.json: arguments[0].role: no role 'input'; there are in, out, inout, scalar");
  EXPECT_EQ(FailureWith("\"f16\"", "\"half\""),
            "t/task.json: arguments[0].dtype: no dtype 'half'; there are f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8");
  EXPECT_EQ(FailureWith("\"2 * M\"", "\"2 * K\""), "t/task.json: arguments[0].shape[1]: 'K' is not a size; sizes are N, M");
  EXPECT_EQ(FailureWith("\"2 * M\"", "\"2 *\""),
            "t/task.json: arguments[0].shape[1]: expression '2 *', column 4: a value expected, found the end");
  EXPECT_EQ(FailureWith("\"2 * M\"", "null"),
            "t/task.json: arguments[0].shape[1]: expected a number or an expression in quotes, not null");
  EXPECT_EQ(FailureWith("\"index<M\"", "\"normal\""),
            "t/task.json: arguments[1].generators[0]: 'normal' cannot fill elements of type i32");
  EXPECT_EQ(FailureWith("\"index<M\"", "\"index<K\""),
            "t/task.json: arguments[1].generators[0]: 'K' is not a size; sizes are N, M");
  EXPECT_EQ(FailureWith("\"index<M\"", ""), "t/task.json: arguments[1].generators: at least one generator is needed");
  EXPECT_EQ(FailureWith("\"name\": \"I\"", "\"name\": \"N\""), "t/task.json: arguments[1].name: the name 'N' is given twice");
  EXPECT_EQ(FailureWith("\"name\": \"I\"", "\"name\": \"I-1\""),
            "t/task.json: arguments[1].name: 'I-1' is not a name of letters, digits and '_'");
  EXPECT_EQ(FailureWith("\"dtype\": \"f32\", \"value\"", "\"dtype\": \"f16\", \"value\""),
            "t/task.json: arguments[4].dtype: a scalar is f64, f32, i64, i32, u64, u32 or bool");
  EXPECT_EQ(FailureWith("\"value\": \"1 / sqrt(M)\"", "\"value\": 1, \"shape\": [1]"),
            "t/task.json: arguments[4].shape: an argument with the role scalar takes no shape");
}

TEST(Task, UnsupportedValuesAreErrors) {
  EXPECT_EQ(FailureWith("\"exact\"", "\"close\""),
            "t/task.json: arguments[3].check: no check 'close'; there are 'exact', {\"sum\": ..} and {\"l2\": .., \"max\": ..}");
  EXPECT_EQ(FailureWith("\"l2\": 1e-3", "\"l2\": 1"),
            "t/task.json: arguments[2].check.l2: must be greater than 0 and less than 1");
  EXPECT_EQ(FailureWith("\"tolerance\"", "\"loose\""),
            "t/task.json: determinism: no determinism 'loose'; there are bitwise, tolerance");
}

TEST(Task, ABoundMayBeDerivedFromTheSourcesOfErrors) {
  EXPECT_EQ(FailureWith("\"exact\"", "{\"sum\": \"K\"}"),
            "t/task.json: arguments[3].check.sum: 'K' is not a size; sizes are N, M");
  EXPECT_EQ(FailureWith("\"exact\"", "{\"sum\": \"M\", \"rounded\": [\"i32\"]}"),
            "t/task.json: arguments[3].check.rounded[0]: 'i32' is not a floating-point type; there are f64, f32, f16, bf16");
  EXPECT_EQ(FailureWith("\"exact\"", "{\"sum\": \"M\", \"ulps\": -1}"),
            "t/task.json: arguments[3].check.ulps: must be 0 or more");
  EXPECT_EQ(FailureWith("\"exact\"", "{\"sum\": \"M - 4\"}"), "t/task.json: case 'small': M - 4 is 0; it must be greater than 0");
  EXPECT_EQ(FailureWith("\"exact\"", "{\"sum\": \"M\", \"l2\": 1e-3}"),
            "t/task.json: arguments[3].check: unknown key 'l2'; there are sum, accumulator, rounded, ulps, peak");
}

TEST(Task, CasesAreChecked) {
  EXPECT_EQ(FailureWith("{\"N\": 3, \"M\": 4}", "{\"N\": 3}"), "t/task.json: cases.small.sizes: 'M' is missing");
  EXPECT_EQ(FailureWith("{\"N\": 3, ", "{\"N\": 3, \"K\": 1, "),
            "t/task.json: cases.small.sizes: 'K' is not a size; sizes are N, M");
  EXPECT_EQ(FailureWith("\"N\": 3,", "\"N\": 0,"), "t/task.json: cases.small.sizes.N: must be 1 to 2147483647");
  EXPECT_EQ(FailureWith("\"N\": 3,", "\"N\": 3.5,"), "t/task.json: cases.small.sizes.N: expected an integer, not 3.5");
  EXPECT_EQ(FailureWith("\"name\": \"bigger\"", "\"name\": \"small\""),
            "t/task.json: cases.search[1].name: the case 'small' is given twice");
  EXPECT_EQ(FailureWith("\"weight\": 2", "\"weight\": 0"), "t/task.json: cases.search[0].weight: must be greater than 0");
  EXPECT_EQ(FailureWith("{\"name\": \"cpu\", \"sizes\": {\"N\": 30, \"M\": 4}}", ""),
            "t/task.json: cases.search_cpu: at least one case is needed");
  EXPECT_EQ(FailureWith("\"2 * M\"", "\"M - 4\""), "t/task.json: case 'small': argument 'X': its dimension 'M - 4' is 0");
  EXPECT_EQ(FailureWith("\"N * M\"", "\"N / 2.0\""),
            "t/task.json: case 'small': argument 'n': 1.5 is not an integer, as i32 needs");
  EXPECT_EQ(FailureWith("\"N * M\"", "\"N << 32\""), "t/task.json: case 'small': argument 'n': 12884901888 does not fit i32");
}

TEST(Task, TheReferenceMustWriteEveryOutput) {
  const auto failure = [](const std::string& reference) { return UsageFailure([&] { ParseTask(kAxpyTask, reference, "t"); }); };
  EXPECT_EQ(failure("// evo:launch r(X, Y) grid(N) block(32)\n"), "t/reference.cu: no evo:launch line takes the output 'Z'");
  EXPECT_EQ(failure("// evo:launch r({X, ZZ}, Y) grid(N) block(32)\n"),
            "t/reference.cu: no evo:launch line takes the output 'Z'");
  EXPECT_THAT(failure("// evo:launch r({X, Z, N}, Y) grid(N - 3) block(32)\n"), testing::HasSubstr("grid x is 0"))
      << "a field of a struct";
  EXPECT_EQ(failure("// evo:launch r(Z, Y) grid(N - 3) block(32)\n"),
            "t/reference.cu: case 'small': line 1, r: grid x is 0; it must be 1 to 2147483647");
  EXPECT_EQ(failure("int x;\n"), "t/reference.cu: no evo:launch line; say how the kernel is launched");
}

// The task with a reference of another kind.
std::string WithReference(const std::string& value) {
  std::string text = kAxpyTask;
  return text.insert(text.find("\"baseline\""), "\"reference\": \"" + value + "\", ");
}

TEST(Task, SaysWhatItsReferenceIs) {
  EXPECT_EQ(ParseTask(kAxpyTask, kReference, "t").reference_kind, ReferenceKind::kKernels);
  EXPECT_EQ(NameOfReference(ParseTask(WithReference("reference.cu"), kReference, "t")), "reference.cu");
  const Task baseline = ParseTask(WithReference("baseline"), kReference, "t");
  EXPECT_EQ(baseline.reference_kind, ReferenceKind::kBaseline);
  EXPECT_EQ(baseline.reference_file, "naive.cu");
  EXPECT_EQ(NameOfReference(baseline), "baseline");
  const Task python = ParseTask(WithReference("model.py"), "def reference(): pass", "t");
  EXPECT_EQ(python.reference_kind, ReferenceKind::kPython);
  EXPECT_EQ(NameOfReference(python), "model.py");
  for (const char* no_reference : {"reference", "other.cu", "sub/reference.py", ".py", ""}) {
    EXPECT_THAT(UsageFailure([&] { ParseTask(WithReference(no_reference), kReference, "t"); }),
                testing::AllOf(testing::StartsWith("t/task.json: reference: '" + std::string(no_reference) + "' is no reference"),
                               testing::HasSubstr("\"baseline\"")));
  }
}

TEST(Task, AReferenceInLessThanDoublePrecisionIsRefused) {
  const auto failure = [](const std::string& parameter, const std::string& task) {
    const std::string kernel = "__global__ void reference(const half* X, const int* I, " + parameter +
                               ", double* Z, float a, int n) { if (a < 1) {} }\n";
    return UsageFailure([&] { ParseTask(task, kReference + kernel, "t"); });
  };
  EXPECT_EQ(
      failure("float* Y", kAxpyTask),
      "t/reference.cu: line 1: reference takes the output 'Y' as float*; a reference gets every output as double*, whatever "
      "its dtype, and computes in double");
  EXPECT_THAT(failure("__half * __restrict__ Y", kAxpyTask), testing::HasSubstr("'Y' as __half*"));
  EXPECT_THAT(failure("unsigned int *Y", kAxpyTask), testing::HasSubstr("'Y' as unsigned int*"));
  EXPECT_EQ(failure("double* Y", kAxpyTask), "");
  EXPECT_EQ(failure("Real* __restrict__ Y", kAxpyTask), "") << "it may be double";
  EXPECT_EQ(failure("float* Y", WithReference("baseline")), "") << "a baseline has its own types";
}

class TaskFolder : public testing::Test {
 protected:
  TaskFolder() : root_(fs::path(testing::TempDir()) / ("task_test_" + std::to_string(::getpid()))) {
    fs::create_directories(root_);
  }
  ~TaskFolder() override { fs::remove_all(root_); }
  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  fs::path root_;
};

TEST_F(TaskFolder, IsLoaded) {
  Write("scale/task.json", kAxpyTask);
  Write("scale/reference.cu", kReference);
  EXPECT_EQ(UsageFailure([&] { LoadTask(root_ / "scale"); }),
            (root_ / "scale/task.json").string() + ": baseline: there is no template naive.cu in its folder");
  Write("scale/naive.cu", kReference);
  EXPECT_EQ(LoadTask(root_ / "scale").name, "scale");
  EXPECT_THAT(UsageFailure([&] { LoadTask(root_); }), testing::HasSubstr("task.json: cannot be read; a task is a folder with"));
}

TEST_F(TaskFolder, HasTheReferenceThatTheTaskNames) {
  Write("scale/task.json", kAxpyTask);
  Write("scale/naive.cu", std::string(kReference) + "// the baseline\n");
  EXPECT_THAT(UsageFailure([&] { LoadTask(root_ / "scale"); }),
              testing::AllOf(testing::HasSubstr("scale/reference.cu: cannot be read"), testing::HasSubstr("\"reference.py\""),
                             testing::HasSubstr("\"baseline\"")));
  Write("scale/task.json", WithReference("reference.py"));
  EXPECT_THAT(UsageFailure([&] { LoadTask(root_ / "scale"); }), testing::HasSubstr("scale/reference.py: cannot be read"));
  Write("scale/reference.py", "def reference(X): return X");
  EXPECT_EQ(LoadTask(root_ / "scale").reference, "def reference(X): return X");
  Write("scale/task.json", WithReference("baseline"));
  const Task baseline = LoadTask(root_ / "scale");
  EXPECT_THAT(baseline.reference, testing::HasSubstr("// the baseline"));
  Write("scale/naive.cu", std::string(kReference) + "// another\n");
  EXPECT_NE(LoadTask(root_ / "scale").digest, baseline.digest) << "right answers are others now";
}

TEST_F(TaskFolder, TasksAreFoundOnceEach) {
  for (const char* file : {"a/x/task.json", "a/y/task.json", "b/x/task.json", "b/w/task.json", "b/none/other"}) Write(file, "");
  EXPECT_THAT(FindTasks({root_ / "a", root_ / "b", root_ / "missing"}),
              testing::ElementsAre(root_ / "b/w", root_ / "a/x", root_ / "a/y"));
}

}  // namespace
}  // namespace evo
