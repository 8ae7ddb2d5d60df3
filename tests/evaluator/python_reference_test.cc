#include "evaluator/reference/python_reference.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "evaluator/gate/input_generator.h"
#include "tests/evaluator/fake_device.h"

namespace evo {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kTask = R"json({
  "name": "mixed", "summary": "two outputs", "sizes": ["N"],
  "arguments": [
    {"name": "X", "role": "in", "dtype": "f32", "shape": ["N", 2], "generators": ["normal"]},
    {"name": "H", "role": "in", "dtype": "DTYPE", "shape": ["N"], "generators": ["normal"]},
    {"name": "I", "role": "in", "dtype": "i32", "shape": ["N"], "generators": ["index<N"]},
    {"name": "Y", "role": "out", "dtype": "f32", "shape": ["N"], "check": {"l2": 1e-6, "max": 1e-5}},
    {"name": "A", "role": "inout", "dtype": "u8", "shape": ["N"], "generators": ["index<9"], "check": "exact"},
    {"name": "a", "role": "scalar", "dtype": "f32", "value": "N / 2.0"}
  ],
  "cases": {
    "small": {"name": "small", "sizes": {"N": 3}},
    "search": [{"name": "a", "sizes": {"N": 3}}], "search_cpu": [{"name": "b", "sizes": {"N": 3}}],
    "held_out": [{"name": "c", "sizes": {"N": 3}}], "held_out_cpu": [{"name": "d", "sizes": {"N": 3}}]
  },
  "baseline": "k", "reference": "reference.py", "bytes": "8 * N", "operations": "N"
})json";

// Debian's interpreter has Debian's NumPy.
class PythonReferenceTest : public ::testing::Test {
 protected:
  PythonReferenceTest() { ::setenv("EVO_PYTHON", "/usr/bin/python3", 1); }

  Task MakeTask(const std::string& source, const std::string& dtype = "f16") {
    std::string text = kTask;
    text.replace(text.find("DTYPE"), 5, dtype);
    return ParseTask(text, source, "t");
  }

  // The answers on X = 1 to 6, H = 0.5, 1.5, 2.5, I = 0, 1, 2, A = 7, 8, 9, or what is wrong.
  std::variant<std::vector<std::vector<double>>, Failure> Answers(PythonReference& reference, const Task& task) {
    const std::vector<std::vector<double>> inputs = {x_, {0.5, 1.5, 2.5}, {0, 1, 2}, {}, {7, 8, 9}};
    std::vector<std::vector<std::byte>> memory(inputs.size());
    std::vector<std::vector<double>> answers = {std::vector<double>(3), std::vector<double>(3)};
    std::vector<Reference::Place> places;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      Reference::Place& place = places.emplace_back();
      place.argument = &task.arguments[i];
      memory[i] = FromDoubles(inputs[i], place.argument->dtype);
      if (!inputs[i].empty()) place.contents = {reinterpret_cast<Address>(memory[i].data()), memory[i].size()};
      if (i >= 3) place.answer = {reinterpret_cast<Address>(answers[i - 3].data()), 3 * sizeof(double)};
    }
    if (auto failure = reference.Compute(device_, task, task.small, places)) return *failure;
    return answers;
  }

  std::vector<std::vector<double>> AnswersOf(const std::string& source, const std::string& dtype = "f16") {
    const Task task = MakeTask(source, dtype);
    PythonReference reference(PythonInit(task));
    auto answers = Answers(reference, task);
    if (const auto* failure = std::get_if<Failure>(&answers)) {
      ADD_FAILURE() << failure->message;
      return {{}, {}};
    }
    return std::get<0>(answers);
  }

  // What is said of a file that cannot be used.
  std::string StartFailure(const std::string& source, std::chrono::milliseconds most = std::chrono::milliseconds(20'000)) {
    try {
      PythonReference reference(PythonInit(MakeTask(source), {most, most}));
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }

  Failure CallFailure(const std::string& source, std::chrono::milliseconds most = std::chrono::milliseconds(20'000)) {
    const Task task = MakeTask(source);
    nlohmann::json init = PythonInit(task, {std::chrono::milliseconds(20'000), most});
    init["memory_bytes"] = 1U << 30;
    PythonReference reference(init);
    auto answers = Answers(reference, task);
    if (auto* failure = std::get_if<Failure>(&answers)) return *failure;
    ADD_FAILURE() << "an answer";
    return {};
  }
  std::string CallMessage(const std::string& source) {
    const Failure failure = CallFailure(source);
    EXPECT_TRUE(failure.of_reference) << failure.message;
    return failure.message;
  }

  FakeDevice device_{"cpu"};
  std::vector<double> x_ = {1, 2, 3, 4, 5, 6};
};

TEST_F(PythonReferenceTest, GetsArgumentsAndSizesByName) {
  const auto answers = AnswersOf(R"(import numpy as np
def reference(X, H, I, A, a, N):
    assert X.dtype == np.float64 and H.dtype == np.float64 and I.dtype == np.int32 and A.dtype == np.uint8
    return X.sum(axis=1) + H[I] + a * N, A + 1
)");
  EXPECT_THAT(answers[0], ElementsAre(3 + 0.5 + 4.5, 7 + 1.5 + 4.5, 11 + 2.5 + 4.5));
  EXPECT_THAT(answers[1], ElementsAre(8, 9, 10));
}

TEST_F(PythonReferenceTest, GetsOnlyWhatItAsksFor) {
  EXPECT_THAT(AnswersOf("def reference(H, A, scale=2): return {'A': A, 'Y': scale * H}")[0], ElementsAre(1, 3, 5));
  EXPECT_THAT(AnswersOf("def reference(**all): return all['H'], all['A']", "bf16")[0], ElementsAre(0.5, 1.5, 2.5));
}

TEST_F(PythonReferenceTest, MayChangeWhatItGets) {
  EXPECT_THAT(AnswersOf("def reference(H, A):\n    H += 1\n    A += 1\n    return H, A")[1], ElementsAre(8, 9, 10));
}

TEST_F(PythonReferenceTest, StaysForManyInputsAndMayPrint) {
  const Task task = MakeTask("def reference(H, A):\n    print('x' * 10000)\n    return H, A");
  PythonReference reference(PythonInit(task));
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(std::holds_alternative<std::vector<std::vector<double>>>(Answers(reference, task)));
  EXPECT_GT(reference.Milliseconds(), 0);
  EXPECT_LT(reference.Milliseconds(), 1000);
}

TEST_F(PythonReferenceTest, AFileThatCannotBeUsedIsNamedWithTheLine) {
  EXPECT_EQ(StartFailure("import numpy\n\ndef reference(X:\n  return X\n"),
            "t/reference.py:3: syntax error: '(' was never closed");
  EXPECT_THAT(StartFailure("\nimport no_such_module_of_evo\n"),
              AllOf(StartsWith("t/reference.py:2: No module named 'no_such_module_of_evo' in /usr/bin/python3 (Python 3."),
                    HasSubstr("EVO_PYTHON")));
  EXPECT_EQ(StartFailure("\nx = 1 / 0\n"), "t/reference.py:2: ZeroDivisionError: division by zero");
  EXPECT_EQ(StartFailure("import sys\nsys.exit(3)\n"), "t/reference.py:2: it calls sys.exit");
  EXPECT_THAT(StartFailure("def softmax(X): return X"), AllOf(StartsWith("t/reference.py: there is no function `reference`"),
                                                              HasSubstr("`def reference(X, H, I, A, a):`")));
  EXPECT_EQ(StartFailure("\ndef reference(X, Z): return X"),
            "t/reference.py:2: the parameter 'Z' is not in task.json; there are X, H, I, A, a, N");
  EXPECT_EQ(StartFailure("def reference(X, Y): return X"), "t/reference.py:1: the parameter 'Y' is an output: return it instead");
  EXPECT_EQ(StartFailure("while True:\n  pass\n", std::chrono::milliseconds(300)).substr(0, 16), "t/reference.py:1");
}

TEST_F(PythonReferenceTest, AnInterpreterThatIsMissingIsNamed) {
  ::setenv("EVO_PYTHON", "no-such-python", 1);
  EXPECT_THAT(StartFailure("def reference(X): return X"), AllOf(HasSubstr("no-such-python"), HasSubstr("EVO_PYTHON")));
  ::setenv("EVO_PYTHON", "/bin/true", 1);
  EXPECT_THAT(StartFailure("def reference(X): return X"),
              AllOf(HasSubstr("t/reference.py: its interpreter /bin/true"), HasSubstr("has ended (exit status 0)")));
}

TEST_F(PythonReferenceTest, AWrongResultIsNamedWithTheLine) {
  EXPECT_EQ(CallMessage("import numpy as np\ndef reference(X, A):\n    s = X.sum(axis=1)\n    return s + np.zeros(4), A\n"),
            "t/reference.py:4: ValueError: operands could not be broadcast together with shapes (3,) (4,)");
  EXPECT_EQ(CallMessage("def reference(X, A):\n    return X, A"),
            "t/reference.py:1: Y has the shape [3, 2], and task.json says [3]");
  EXPECT_THAT(CallMessage("import numpy as np\n\ndef reference(H, A): return H.astype(np.float32), A"),
              StartsWith("t/reference.py:3: Y is float32, and a reference computes in float64, as its inputs come"));
  EXPECT_THAT(CallMessage("def reference(H, A): return H, H"),
              HasSubstr("A has elements of type float64, and task.json says u8"));
  EXPECT_THAT(CallMessage("def reference(H, A): return ['x', 'y', 'z'], A"), HasSubstr("Y has elements of type str"));
  EXPECT_EQ(CallMessage("def reference(H): return H"), "t/reference.py:1: it returns ndarray; return a tuple or a dict of Y, A");
  EXPECT_EQ(CallMessage("def reference(H): H += 1"), "t/reference.py:1: it returns nothing; return the outputs");
  EXPECT_EQ(CallMessage("def reference(H): return H, H, H"), "t/reference.py:1: it returns 3 values; the outputs are Y, A");
  EXPECT_EQ(CallMessage("def reference(H): return {'Y': H}"),
            "t/reference.py:1: it returns a dict with Y, and the outputs are Y, A");
  EXPECT_EQ(CallMessage("import numpy as np\ndef reference(H, A):\n    return np.log(1 - H), A"),
            "t/reference.py:2: Y has NaN at [1], and all inputs are finite");
}

TEST_F(PythonReferenceTest, NanFromInputsThatAreNotFiniteIsAnAnswer) {
  x_[0] = INFINITY;
  const auto answers = AnswersOf("def reference(X, A): return X[:, 0] - X[:, 0], A");
  EXPECT_TRUE(std::isnan(answers[0][0]));
  EXPECT_EQ(answers[0][1], 0);
}

TEST_F(PythonReferenceTest, TooMuchMemoryIsNamed) {
  EXPECT_THAT(CallMessage("import numpy as np\ndef reference(H, A):\n    return np.zeros(1 << 40), A"),
              AllOf(StartsWith("t/reference.py:3: MemoryError: "), HasSubstr("a reference may use 1 GiB")));
  EXPECT_THAT(CallMessage("def reference(H, A):\n    x = [0]\n    while True: x = x + x\n    return H, A"),
              StartsWith("t/reference.py:3: MemoryError: "));
}

TEST_F(PythonReferenceTest, AnEndlessLoopIsEndedWithItsLine) {
  const Task task = MakeTask("def reference(X, A):\n    while X[0, 0] > 0:\n        pass\n    return X[:, 1], A");
  PythonReference reference(PythonInit(task, {std::chrono::milliseconds(20'000), std::chrono::milliseconds(300)}));
  auto late = Answers(reference, task);
  ASSERT_TRUE(std::holds_alternative<Failure>(late));
  EXPECT_THAT(std::get<Failure>(late).message, AllOf(StartsWith("t/reference.py:"), HasSubstr("no answer within 0.3 s")));
  EXPECT_TRUE(std::get<Failure>(late).of_reference);
  x_[0] = -1;
  EXPECT_TRUE(std::holds_alternative<std::vector<std::vector<double>>>(Answers(reference, task))) << "it can be asked for others";
}

// The loop is one of compiled code.
TEST_F(PythonReferenceTest, ALoopThatCannotBeInterruptedEndsTheProcess) {
  const Failure failure = CallFailure("import itertools\ndef reference(X, A):\n    x = 1\n    return sum(itertools.repeat(x))",
                                      std::chrono::milliseconds(200));
  EXPECT_TRUE(failure.sticky);
  EXPECT_FALSE(failure.of_reference);
  EXPECT_THAT(failure.message, AllOf(StartsWith("t/reference.py: its interpreter /usr/bin/python3 has ended (exit status 1)"),
                                     HasSubstr("Timeout"), HasSubstr("line 4 in reference")));
}

TEST_F(PythonReferenceTest, ADeathIsNamed) {
  const Failure failure = CallFailure("import os, signal\ndef reference(X, A):\n    os.kill(os.getpid(), signal.SIGKILL)");
  EXPECT_THAT(failure.message,
              StartsWith("t/reference.py: its interpreter /usr/bin/python3 has ended (killed by signal 9 (Killed))"));
  EXPECT_TRUE(failure.sticky);
  const Failure fault = CallFailure("import ctypes\ndef reference(X, A):\n    ctypes.string_at(0)");
  EXPECT_THAT(fault.message, AllOf(HasSubstr("killed by signal 11"), HasSubstr("line 3 in reference")));
}

TEST_F(PythonReferenceTest, IsGoneWhenItsOwnerIs) {
  const auto file = std::filesystem::path(::testing::TempDir()) / ("python_reference_pid_" + std::to_string(::getpid()));
  {
    PythonReference reference(
        PythonInit(MakeTask("import os\nopen('" + file.string() + "', 'w').write(str(os.getpid()))\ndef reference(H, A): pass")));
  }
  pid_t pid = 0;
  std::ifstream(file) >> pid;
  std::filesystem::remove(file);
  ASSERT_GT(pid, 0);
  // It is a child of this process: it ends, and nobody has waited for it yet.
  int tries = 0;
  while (::waitpid(pid, nullptr, WNOHANG) == 0 && ++tries < 500) ::usleep(10'000);
  EXPECT_LT(tries, 500);
}

}  // namespace
}  // namespace evo
