#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/evaluator/python_reference_bench.h"

namespace evo {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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

// Needs PyTorch; where Debian's interpreter has none, nothing is shown here.
class TorchReferenceTest : public PythonReferenceTest {
 protected:
  void SetUp() override {
    const std::string missing = StartFailure("import torch\ndef reference(X): pass");
    if (missing.find("No module named 'torch'") != std::string::npos) GTEST_SKIP() << missing;
    ASSERT_EQ(missing, "");
  }
};

TEST_F(TorchReferenceTest, AFileThatImportsTorchGetsTensors) {
  const std::string source = R"(import torch
def reference(X, H, I, A):
    assert X.dtype == H.dtype == torch.zeros(1).dtype == torch.float64 and I.dtype == torch.int32 and A.dtype == torch.uint8
    return torch.softmax(X, 1).sum(1) + H[I.long()], A + 1
)";
  for (const char* dtype : {"f16", "bf16"}) {
    const auto answers = AnswersOf(source, dtype);
    EXPECT_THAT(answers[0], ElementsAre(1.5, 2.5, 3.5));
    EXPECT_THAT(answers[1], ElementsAre(8, 9, 10));
  }
}

TEST_F(TorchReferenceTest, AWrongResultIsNamedWithTheLine) {
  EXPECT_THAT(CallMessage("import torch\ndef reference(H, A): return H.float(), A"),
              AllOf(StartsWith("t/reference.py:2: Y is float32, and a reference computes in float64"), HasSubstr(".float()")));
  EXPECT_EQ(CallMessage("import torch\ndef reference(X, A):\n    return X @ X, A"),
            "t/reference.py:3: RuntimeError: mat1 and mat2 shapes cannot be multiplied (3x2 and 3x2)");
  EXPECT_EQ(CallMessage("import torch\ndef reference(H, A): return torch.log(1 - H), A"),
            "t/reference.py:2: Y has NaN at [1], and all inputs are finite");
  EXPECT_THAT(CallMessage("import torch\ndef reference(H, A): return torch.zeros(1 << 40), A"), HasSubstr("memory"));
}

// KernelBench's form. The forms of its file that are not used here do no harm.
TEST_F(TorchReferenceTest, AModuleIsAReference) {
  const std::string model = R"(import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x, h, i, a):
        return x.sum(dim=1) * self.scale + h, a

def get_inputs():
    return [torch.rand(3, 2)]

def get_init_inputs():
    return [2]
)";
  EXPECT_THAT(AnswersOf(model)[0], ElementsAre(6.5, 15.5, 24.5));
  std::string by_size = model;
  by_size.replace(by_size.find("get_init_inputs():\n    return [2]"), 33, "get_init_inputs(N):\n    return [N]");
  EXPECT_THAT(AnswersOf(by_size)[0], ElementsAre(9.5, 22.5, 35.5));
  std::string other = model;
  other.replace(other.find("x, h, i, a"), 10, "x, h");
  EXPECT_EQ(CallMessage(other),
            "t/reference.py:9: forward takes x, h, and the inputs of task.json that are no weights are X, H, I, A");
}

TEST_F(TorchReferenceTest, TheWeightsOfAModuleAreInputs) {
  const std::string model = R"(import torch
class Part(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(3))

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.NAME = Part()

    def forward(self, X, A):
        return X[:, 0] + self.NAME.weight, A
)";
  const auto named = [&](const std::string& name) {
    std::string text = model;
    for (std::size_t at; (at = text.find("NAME")) != std::string::npos;) text.replace(at, 4, name);
    return text;
  };
  EXPECT_EQ(CallMessage(named("fc")),
            "t/reference.py:12: a kernel has to get the weights of Model as inputs, and task.json lacks fc_weight [3]");
  EXPECT_EQ(CallMessage("import torch\nclass Model(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                        "        self.H = torch.nn.Parameter(torch.zeros(4))\n    def forward(self, X, A): return X, A\n"),
            "t/reference.py:6: the module has H of the shape [4], and task.json says [3]; sizes can be parameters of "
            "get_init_inputs");
  EXPECT_THAT(
      AnswersOf(
          "import torch\nclass Model(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
          "        self.H = torch.nn.Parameter(torch.zeros(3))\n    def forward(self, X, A): return X[:, 0] + self.H, A\n")[0],
      ElementsAre(1.5, 4.5, 7.5));
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
