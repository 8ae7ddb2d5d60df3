#pragma once

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "import/import.h"
#include "tests/syntax/parsing.h"

namespace evo {

// A kernel with the sum of each row.
inline constexpr const char* kRows = R"(
__global__ void rows(const float* x, float* y, int height, int width) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= height) return;
  float sum = 0.f;
  for (int c = 0; c < width; ++c) sum += x[r * width + c];
  y[r] = sum;
}
)";

// Imports a program, as evo init does.
inline ImportReply Read(const std::string& text, const std::vector<std::string>& kernels = {},
                        const std::map<std::string, std::string>& answers = {}) {
  ImportRequest request;
  request.file = "a.cu";
  request.text = text;
  request.kernels = kernels;
  request.answers = answers;
  for (int line = 1; line <= 1000; ++line) {
    request.line_files.push_back("a.cu");
    request.line_numbers.push_back(line);
  }
  return Import(request, SharedParser());
}

inline std::string Kernel(const ImportReply& reply) {
  EXPECT_EQ(reply.failure, "");
  for (const auto& [name, text] : reply.files) {
    if (name.ends_with(".cu")) return text;
  }
  return "";
}

inline nlohmann::json TaskOf(const ImportReply& reply) {
  EXPECT_EQ(reply.failure, "");
  return nlohmann::json::parse(reply.files.at("task.json"));
}

inline nlohmann::json ArgumentOf(const nlohmann::json& task, const std::string& name) {
  for (const nlohmann::json& argument : task.at("arguments")) {
    if (argument.at("name") == name) return argument;
  }
  return "no argument " + name;
}

inline const ImportQuestion& QuestionOf(const ImportReply& reply, const std::string& key) {
  for (const ImportQuestion& question : reply.questions) {
    if (question.key == key) return question;
  }
  static const ImportQuestion kNone;
  ADD_FAILURE() << "no question " << key;
  return kNone;
}

// Of what the host says, not of what is guessed.
inline nlohmann::json ShapeOf(const ImportReply& reply, const std::string& name) {
  EXPECT_FALSE(QuestionOf(reply, name + ".shape").unknown) << name;
  return ArgumentOf(TaskOf(reply), name).at("shape");
}

}  // namespace evo
