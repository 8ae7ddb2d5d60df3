#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "kernel_templates/template_variant.h"
#include "tests/kernel_templates/failure.h"

namespace evo {

// A test with a folder for templates, which is removed afterwards.
class TemplateFolder : public testing::Test {
 protected:
  TemplateFolder() : root_(std::filesystem::path(testing::TempDir()) / ("evo_templates_" + std::to_string(::getpid()))) {}
  ~TemplateFolder() override { std::filesystem::remove_all(root_); }

  std::filesystem::path Write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
    return root_ / name;
  }

  // Writes a file and returns the failure of reading it as a template, without the folder's name.
  std::string Failure(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = Write(name, text);
    std::string message = UsageFailure([&] { ReadTemplateText(file); });
    for (std::size_t at = message.find(root_.string()); at != std::string::npos; at = message.find(root_.string())) {
      message.erase(at, root_.string().size() + 1);
    }
    return message;
  }

  std::filesystem::path root_;
};

}  // namespace evo
