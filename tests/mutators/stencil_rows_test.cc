#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/mutators/mutating.h"

namespace evo {
namespace {

TEST(StencilRows, Dump) {
  const char* file = std::getenv("EVO_DUMP");
  if (file == nullptr) GTEST_SKIP();
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  for (const auto& r : RefusalsOf("stencil_rows", text.str())) std::printf("REFUSED %s\n", r.c_str());
  for (const auto& child : ChildrenOf("stencil_rows", text.str())) std::printf("%s\n", child.c_str());
}

}  // namespace
}  // namespace evo
