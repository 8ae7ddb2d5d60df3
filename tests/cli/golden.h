#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace evo::testing {

// Compares text with EVO_GOLDEN_DIR/name. With EVO_UPDATE_GOLDEN=1 in the environment the file is written instead; read it
// before you commit it.
inline void ExpectGolden(const std::string& name, const std::string& text) {
  const std::string path = std::string(EVO_GOLDEN_DIR) + "/" + name;
  if (std::getenv("EVO_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path << " is missing; run with EVO_UPDATE_GOLDEN=1";
  std::ostringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(text, expected.str()) << path;
}

}  // namespace evo::testing
