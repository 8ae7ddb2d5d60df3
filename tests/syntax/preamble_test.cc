#include "syntax/preamble.h"

#include <gtest/gtest.h>

namespace evo {
namespace {

TEST(Preamble, TakesTheDirectivesUpToTheLastInclude) {
  EXPECT_EQ(
      PreambleOf(
          "// note\n#define A 1\n#include <a.h>  // why\n/* #include <no.h>\n#include <no.h> */\n#include <b.h>\n#define B 2\n"),
      "#include <more_device_functions.h>\n#define A 1\n#include <a.h>  \n#include <b.h>\n;\n");
}

TEST(Preamble, DoesNotDependOnParametersAndLaunchLines) {
  EXPECT_EQ(PreambleOf("// evo:launch a\n#include <a.h>\n#define N 1\n"),
            PreambleOf("// evo:launch b\n#include <a.h>\n#define N 2\n"));
}

TEST(Preamble, ClosesConditions) {
  EXPECT_EQ(PreambleOf("#ifdef X\n#include <a.h>\n#endif\n"),
            "#include <more_device_functions.h>\n#ifdef X\n#include <a.h>\n#endif\n;\n");
}

// What stands between the lines of an include guard is in the source only.
TEST(Preamble, ForgetsIncludeGuards) {
  EXPECT_EQ(PreambleOf("#ifndef A_H\n#define A_H\n#include <a.h>\n#define N 1\nclass C {};\n#endif\n"),
            "#include <more_device_functions.h>\n#ifndef A_H\n#define EVO_GUARD_A_H\n#define A_H\n#include <a.h>\n#endif\n"
            "#ifdef EVO_GUARD_A_H\n#undef A_H\n#endif\n;\n");
  EXPECT_EQ(PreambleOf("#ifndef N\n#define N 4\n#endif\n#include <a.h>\n"),
            "#include <more_device_functions.h>\n#ifndef N\n#define N 4\n#endif\n#include <a.h>\n;\n");
}

TEST(Preamble, IsNeverEmpty) { EXPECT_EQ(PreambleOf(""), "#include <more_device_functions.h>\n;\n"); }

}  // namespace
}  // namespace evo
