#include <gmock/gmock.h>

#include "tests/evaluator/python_reference_bench.h"

namespace evo {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

// The mixed task with more arguments: P of H and A, which is f32, and K of I, which is i16.
class DerivedTest : public PythonReferenceTest {
 protected:
  static constexpr const char* kDerived = R"(
    {"name": "P", "role": "in", "dtype": "f32", "shape": ["N", 2], "derived": "pack"},
    {"name": "K", "role": "in", "dtype": "i16", "shape": ["N"], "derived": "keys"},
    )";
  static Task MakeDerivedTask(const std::string& source) {
    std::string text = kMixedTask;
    text.replace(text.find("DTYPE"), 5, "f16");
    return ParseTask(text.insert(text.find("{\"name\": \"Y\""), kDerived), source, "t");
  }
  // All arguments after the derived ones were made, or what is wrong.
  std::variant<std::vector<std::vector<std::byte>>, std::string> Derived(const std::string& source) const {
    const Task task = MakeDerivedTask(source);
    const std::vector<std::vector<double>> inputs = {x_, {0.5, 1.5, 2.5}, {0, 1, 2}, {}, {}, {}, {7, 8, 9}, {}};
    std::vector<std::vector<std::byte>> contents;
    for (std::size_t i = 0; i < inputs.size(); ++i) contents.push_back(FromDoubles(inputs[i], task.arguments[i].dtype));
    try {
      PythonReference reference(PythonInit(task));
      if (auto failure = reference.Derive(task, task.small, contents)) {
        EXPECT_TRUE(failure->of_reference);
        return failure->message;
      }
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return contents;
  }
  std::string Message(const std::string& source) const {
    const auto derived = Derived(source);
    const auto* message = std::get_if<std::string>(&derived);
    return message == nullptr ? "" : *message;
  }
};

TEST_F(DerivedTest, FunctionsMakeArgumentsOfOthers) {
  const auto derived = Derived(R"(import numpy as np
def reference(X, P, A): return X[:, 0] + P[:, 1], A
def pack(A, H, N): return np.stack([H, H / 3 + N], axis=1)
def keys(I): return I[::-1]
)");
  ASSERT_EQ(derived.index(), 0U) << std::get<1>(derived);
  const auto& contents = std::get<0>(derived);
  EXPECT_THAT(ToDoubles(contents[3], Dtype::kF32),
              ElementsAre(0.5, static_cast<float>(0.5 / 3 + 3), 1.5, static_cast<float>(1.5 / 3 + 3), 2.5,
                          static_cast<float>(2.5 / 3 + 3)));
  EXPECT_THAT(ToDoubles(contents[4], Dtype::kI16), ElementsAre(2, 1, 0));
  EXPECT_THAT(ToDoubles(contents[2], Dtype::kI32), ElementsAre(0, 1, 2)) << "the others stay";
}

TEST_F(DerivedTest, WhatIsWrongIsNamedWithTheLine) {
  const std::string reference = "import numpy as np\ndef reference(X, A): return X[:, 0], A\ndef keys(I): return I\n";
  EXPECT_EQ(Message(reference),
            "t/reference.py: there is no function `pack`, from which task.json derives P; write `def pack(X, H, "
            "I, A, a):`");
  EXPECT_EQ(Message(reference + "def pack(K): return K"),
            "t/reference.py:4: the parameter 'K' is not in task.json; there are X, H, I, A, a, N");
  EXPECT_EQ(Message(reference + "def pack(X): return X[:, 0]"),
            "t/reference.py:4: P has the shape [3], and task.json says [3, 2]");
  EXPECT_EQ(Message(reference + "def pack(X):\n    return X + np.zeros(3)"),
            "t/reference.py:5: ValueError: operands could not be broadcast together with shapes (3,2) (3,)");
  EXPECT_THAT(Message("import numpy as np\ndef reference(X, A): return X[:, 0], A\ndef keys(I): return I + 40000\ndef pack(X): "
                      "return X"),
              StartsWith("t/reference.py: keys, for K: "));
}

}  // namespace
}  // namespace evo
