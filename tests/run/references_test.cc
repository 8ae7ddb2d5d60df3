// References in Python, recorded data and derived inputs: the real programs, on the cpu device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tests/run/evo_process.h"

namespace evo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kRight[] = "def reference(x):\n    return x + x[::-1]\n";

class ReferencesTest : public EvoRun {
 protected:
  void SetUp() override {
    EvoRun::SetUp();
    fs::copy(TaskFolder(), folder_ / "task");
    fs::create_directory(folder_ / "tmp");
    ::setenv("TMPDIR", (folder_ / "tmp").c_str(), 1);
    ::setenv("EVO_PYTHON", "/usr/bin/python3", 1);
  }
  void TearDown() override {
    ::unsetenv("TMPDIR");
    ::unsetenv("EVO_PYTHON");
    EvoRun::TearDown();
  }

  std::string TaskCopy() const { return (folder_ / "task").string(); }
  std::string File(const std::string& name) const { return (folder_ / "task" / name).string(); }
  void Write(const std::string& name, const std::string& text) const { std::ofstream(File(name)) << text; }
  nlohmann::json ReadTask() const {
    std::ifstream in(File("task.json"));
    return nlohmann::json::parse(in);
  }
  // Makes this the task's reference.
  void Use(const std::string& reference) const {
    nlohmann::json task = ReadTask();
    task["reference"] = "reference.py";
    Write("task.json", task.dump());
    Write("reference.py", reference);
  }
  // Runs NumPy's own writer in the task's folder.
  void Record(const std::string& arrays) const {
    const std::string script = File("record.py");
    std::ofstream(script) << "import numpy as np\nx = np.arange(70, dtype=np.float32) / 7\nnp.savez_compressed('"
                          << File("recorded.npz") << "', " << arrays << ")\n";
    ASSERT_EQ(std::system(("/usr/bin/python3 " + script).c_str()), 0);
    fs::remove(script);
    nlohmann::json task = ReadTask();
    task["cases"]["held_out_cpu"][2] = {{"name", "seventy"}, {"data", "recorded.npz"}};
    Write("task.json", task.dump());
  }
  int Check() const { return Run({"check", TaskCopy(), "--device", "cpu"}); }
  int Search(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = RunArguments(1);
    *std::find(arguments.begin(), arguments.end(), TaskFolder()) = TaskCopy();
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }
  // The output on one line, wherever its lines are broken.
  std::string Flat() const {
    std::string flat;
    for (const char c : Output()) {
      const bool space = c == ' ' || c == '\n';
      if (!space || (!flat.empty() && flat.back() != ' ')) flat += space ? ' ' : c;
    }
    return flat;
  }
  long Times(const std::string& text) const {
    const std::string output = Flat();
    long times = 0;
    for (std::size_t at = output.find(text); at != std::string::npos; at = output.find(text, at + 1)) ++times;
    return times;
  }
  void ExpectNothingLeft() const {
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "tmp")) ADD_FAILURE() << entry.path();
    EXPECT_FALSE(fs::exists(folder_ / "task" / "__pycache__"));
    const std::string group = fmt::format("{}", started_.back());
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      std::ifstream in(entry.path() / "stat");
      std::string stat((std::istreambuf_iterator<char>(in)), {});
      const std::size_t end = stat.rfind(')');
      if (end == std::string::npos) continue;
      std::istringstream fields(stat.substr(end + 1));
      std::string state, parent, of_group;
      fields >> state >> parent >> of_group;
      EXPECT_NE(of_group, group) << stat;
    }
  }

  // `evo run`, and `evo check` with this status (0: it is not asked), say this once, and leave nothing behind.
  void ExpectRefused(const std::string& reference, const std::string& text, int of_check) {
    SCOPED_TRACE(reference);
    Use(reference);
    if (of_check != 0) {
      EXPECT_EQ(Check(), of_check) << Output();
      EXPECT_EQ(Times(text), 1) << text << "\n" << Output();
      ExpectNothingLeft();
    }
    EXPECT_EQ(Search(), 1) << Output();
    EXPECT_EQ(Times(text), 1) << text << "\n" << Output();
    EXPECT_EQ(Times("evo: "), 1) << Output();
    EXPECT_FALSE(fs::exists(Database()) && History(Database()).Runs().size() > 0) << "no run has begun";
    ExpectNothingLeft();
  }
};

TEST_F(ReferencesTest, AFunctionInPythonIsAReference) {
  Use(kRight);
  EXPECT_EQ(Check(), 0) << Output();
  EXPECT_EQ(Search(), 0) << Output();
  EXPECT_THAT(Flat(), AllOf(HasSubstr("reference.py computes: "), HasSubstr(" ms for an answer to the small case"),
                            HasSubstr("held-out ok")));
  ExpectNothingLeft();
}

TEST_F(ReferencesTest, RecordedDataIsOneMoreInput) {
  Record("x=x, y=x.astype(np.float64) + x[::-1]");
  EXPECT_EQ(Check(), 0) << Output();
  EXPECT_THAT(Flat(), HasSubstr("seventy"));
  ASSERT_EQ(Search(), 0) << Output();
  const auto best = History(Database()).Best(1);
  ASSERT_TRUE(best && best->check);
  EXPECT_THAT(best->check->held_out_cases, ::testing::Contains("seventy"));
  Record("x=x, y=x.astype(np.float64) + x[::-1] + 1e-9");
  EXPECT_EQ(Run({"run", "--resume", "--generations", "2", "--db", Database()}), 2) << Output();
  EXPECT_THAT(Flat(), HasSubstr("task.json, the reference or recorded data in"));
}

TEST_F(ReferencesTest, AKernelThatIsWrongOnRecordedDataIsRejected) {
  Record("x=x, y=x + x");
  EXPECT_EQ(Check(), 3) << Output();
  EXPECT_THAT(Flat(), HasSubstr("case seventy, recorded.npz: the baseline fails: y: relative L2 error"));
  EXPECT_EQ(Run({"verify", "--task", TaskCopy(), "--kernel", File("honest.cu"), "--device", "cpu"}), 3) << Output();
  EXPECT_THAT(Flat(),
              AllOf(HasSubstr("case seventy: y: relative L2 error"), HasSubstr("on the recorded inputs of recorded.npz")));
}

TEST_F(ReferencesTest, DataThatCannotBeUsedIsOneLine) {
  Record("x=np.asfortranarray(np.ones((7, 2))), y=x");
  EXPECT_EQ(Check(), 2) << Output();
  EXPECT_EQ(Output(), "evo: " + File("recorded.npz") + ": array x: is in Fortran order; save numpy.ascontiguousarray of it\n");
  fs::remove(File("recorded.npz"));
  EXPECT_EQ(Search(), 2) << Output();
  EXPECT_THAT(Flat(), HasSubstr("recorded.npz: cannot be read; task.json names it as the data of a case"));
}

TEST_F(ReferencesTest, ADerivedInputIsMadeForEverySetOfInputs) {
  nlohmann::json task = ReadTask();
  const auto pairs =
      nlohmann::json::parse(R"({"name": "pairs", "role": "in", "dtype": "f32", "shape": ["N", 2], "derived": "pack"})");
  task["arguments"].insert(task["arguments"].begin() + 1, pairs);
  Write("task.json", task.dump());
  Use(std::string("import numpy as np\n") + kRight + "def pack(x):\n    return np.stack([x, x[::-1]], axis=1)\n");
  Write("pairs.cu",
        "// evo:launch of_pairs(pairs, y, N) grid(ceil_div(N, 64)) block(64)\n"
        "__global__ void of_pairs(const float* pairs, float* y, int n) {\n"
        "  const int i = blockIdx.x * 64 + threadIdx.x;\n"
        "  if (i < n) y[i] = pairs[2 * i] + pairs[2 * i + 1];\n}\n");
  EXPECT_EQ(Run({"verify", "--task", TaskCopy(), "--kernel", File("pairs.cu"), "--device", "cpu", "--time-limit", "5s"}), 0)
      << Output();
  Record("x=x, y=x.astype(np.float64) + x[::-1]");
  EXPECT_EQ(Check(), 0) << Output();
}

TEST_F(ReferencesTest, ASlowOneIsSaid) {
  std::string slow = std::string("import time\n") + kRight;
  slow.replace(slow.find("    return"), 4, "    time.sleep(0.12)\n    ");
  Use(slow);
  EXPECT_EQ(Search({"--time-limit", "2"}), 2) << Output();
  EXPECT_THAT(Flat(), AllOf(HasSubstr("reference.py: too slow for a search of this length: "), HasSubstr("more than 2 s")));
}

TEST_F(ReferencesTest, AFileThatCannotBeReadIsOneLine) {
  ExpectRefused("def reference(x:\n    return x\n", "reference.py:1: syntax error: '(' was never closed", 1);
  ExpectRefused("import no_such_module_of_evo\n", "reference.py:1: No module named 'no_such_module_of_evo'", 1);
  ExpectRefused("import os\nos._exit(3)\n", "has ended (exit status 3)", 1);
}

TEST_F(ReferencesTest, AWrongAnswerIsOneLine) {
  ExpectRefused("def reference(x):\n    return x[:5]\n", "reference.py:1: y has the shape [5], and task.json says [300]", 3);
  ExpectRefused("def reference(x):\n    return x * float('nan')\n", "reference.py:1: y has NaN at [0], and all inputs are finite",
                0);
  ExpectRefused("def reference(x):\n    x + 1\n", "reference.py:1: it returns nothing; return the output", 0);
}

TEST_F(ReferencesTest, AnEndIsOneLine) {
  ExpectRefused("def reference(x):\n    raise KeyError('a')\n", "reference.py:2: KeyError: 'a'", 0);
  ExpectRefused("import sys\ndef reference(x):\n    sys.exit(1)\n", "reference.py:3: it calls sys.exit", 0);
  ExpectRefused("import os\ndef reference(x):\n    os._exit(3)\n", "has ended (exit status 3)", 3);
  ExpectRefused("import numpy as np\ndef reference(x):\n    return np.ones(1 << 50)[:300]\n", "reference.py:3: MemoryError", 0);
}

// One that sleeps, so that it leaves the processor to the tests beside it; one that does not is in python_reference_test.cc.
TEST_F(ReferencesTest, AnEndlessLoopIsOneLine) {
  ExpectRefused("import time\ndef reference(x):\n    while True: time.sleep(0.1)\n", "reference.py:3: no answer within 20 s", 3);
}

TEST_F(ReferencesTest, OneMayPrintALot) {
  std::string loud = kRight;
  loud.insert(loud.find("    return"), "    print('x' * 100000)\n");
  Use(loud);
  EXPECT_EQ(Check(), 0) << Output();
  EXPECT_THAT(Flat(), Not(HasSubstr("xxxx")));
  ExpectNothingLeft();
}

}  // namespace
}  // namespace evo
