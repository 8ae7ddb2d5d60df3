#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <variant>
#include <vector>

#include "core/error.h"
#include "evaluator/gate/input_generator.h"
#include "evaluator/reference/python_reference.h"
#include "tests/evaluator/fake_device.h"

namespace evo {

// Two outputs, inputs of several types.
inline constexpr const char* kMixedTask = R"json({
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
    std::string text = kMixedTask;
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

}  // namespace evo
