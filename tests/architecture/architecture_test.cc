// The rules of the house that a compiler does not know, and that the rules can be broken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/architecture/source_rules.h"

namespace evo::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::filesystem::path kRoot = EVO_SOURCE_ROOT;

std::string Text(const std::string& path) {
  std::ifstream file(kRoot / path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Architecture, TheFilesAreFound) {
  const std::vector<std::string> files = SourceFiles(kRoot);
  EXPECT_THAT(files, Contains("core/genome.h"));
  EXPECT_THAT(files, Contains("engine/evolution.cc"));
  EXPECT_THAT(files, Contains("evaluator/device/cpu/cpu_device.cc"));
  EXPECT_THAT(files, ::testing::Not(Contains(::testing::HasSubstr("/include/"))));
  EXPECT_GT(files.size(), 100U);
}

TEST(Architecture, IncludesFollowTheArrows) {
  for (const std::string& path : SourceFiles(kRoot)) EXPECT_THAT(ForbiddenIncludes(path, Text(path)), IsEmpty());
}

TEST(Architecture, OnlyTheCommandLinePrints) {
  for (const std::string& path : SourceFiles(kRoot)) EXPECT_THAT(Printing(path, Text(path)), IsEmpty());
}

TEST(Architecture, NoTextOfTheJsonLibraryReachesTheUser) {
  for (const std::string& path : SourceFiles(kRoot)) EXPECT_THAT(LibraryTexts(path, Text(path)), IsEmpty());
}

TEST(LibraryTexts, AreSeen) {
  for (const std::string kind : {"std::exception", "nlohmann::json::exception", "json::parse_error"}) {
    const std::string handler = "} catch (const " + kind + "& error) {\n  throw Error(error.what());\n}\n";
    EXPECT_THAT(LibraryTexts("db/rows.cc", "try {\n" + handler), SizeIs(1)) << kind;
    EXPECT_THAT(LibraryTexts("tests/db/rows_test.cc", handler), IsEmpty());
  }
  EXPECT_THAT(LibraryTexts("db/rows.cc", "} catch (const Error& error) {\n  throw Error(error.what());\n}\n"), IsEmpty());
  EXPECT_THAT(LibraryTexts("db/rows.cc",
                           "} catch (const std::exception& error) {\n  throw Error(PlainText(error));\n"
                           "} catch (const Error& error) {\n  error.what();\n"),
              IsEmpty());
}

TEST(ForbiddenIncludes, NamesFileLineAndArrow) {
  EXPECT_THAT(ForbiddenIncludes("engine/evolution.cc", "#include <map>\n\n#include \"evaluator/scheduling/pipeline.h\"\n"),
              ElementsAre("engine/evolution.cc:3: engine may not include evaluator (evaluator/scheduling/pipeline.h)"));
}

TEST(ForbiddenIncludes, KnowsEveryForbiddenArrow) {
  const auto allowed = [](const std::string& from, const std::string& to) {
    return ForbiddenIncludes(from + "/a.cc", "#include \"" + to + "/b.h\"").empty();
  };
  const std::vector<std::string> folders = {"core", "platform", "syntax", "kernel_templates", "import", "mutators", "evaluator",
                                            "db",   "engine",   "story",  "report",           "cli",    "tests"};
  const std::map<std::string, std::string> arrows = {
      {"core", "core"},
      {"platform", "core platform"},
      {"syntax", "core platform syntax"},
      {"kernel_templates", "core kernel_templates"},
      {"import", "core syntax kernel_templates import"},
      {"mutators", "core syntax kernel_templates mutators"},
      {"evaluator", "core kernel_templates platform evaluator"},
      {"db", "core db"},
      {"engine", "core engine"},
      {"story", "core db story"},
      {"report", "core db story report"},
  };
  for (const auto& [from, targets] : arrows) {
    const std::string list = " " + targets + " ";
    for (const std::string& to : folders)
      EXPECT_EQ(allowed(from, to), list.find(" " + to + " ") != std::string::npos) << from << " -> " << to;
  }
  for (const std::string& to : folders) {
    EXPECT_TRUE(allowed("cli", to));
    EXPECT_TRUE(allowed("tests", to));
  }
  EXPECT_FALSE(allowed("new_folder", "core")) << "a new folder's arrows have to be drawn first";
}

TEST(ForbiddenIncludes, KnowsTheRoomsOfTheAnalysis) {
  const auto found = [](const std::string& from, const std::string& to) {
    return ForbiddenIncludes("mutators/" + from + ".cc", "#include \"mutators/" + to + ".h\"");
  };
  EXPECT_THAT(found("analysis/thread_runs/thread_run", "analysis/grid_runs/grid_run"),
              ElementsAre("mutators/analysis/thread_runs/thread_run.cc:1: thread_runs may not include "
                          "mutators/analysis/grid_runs/grid_run.h"));
  EXPECT_THAT(found("analysis/grid_runs/grid_run", "analysis/thread_runs/thread_run"), IsEmpty());
  EXPECT_THAT(found("analysis/rows/row_kernel", "analysis/rows/row_forms"), IsEmpty());
  EXPECT_THAT(found("analysis/rows/row_kernel", "mutator"), IsEmpty());
  EXPECT_THAT(found("analysis/kernel_kind", "analysis/rows/row_kernel"), IsEmpty());
  EXPECT_THAT(found("analysis/rows/row_kernel", "analysis/kernel_kind"), SizeIs(1));
  EXPECT_THAT(found("parallelism/rows/merged_rows", "analysis/rows/row_kernel"), IsEmpty());
  EXPECT_THAT(found("analysis/new_room/a", "analysis/source/source_query"), SizeIs(1)) << "its arrows have to be drawn first";
}

TEST(ForbiddenIncludes, SeesThroughSpellings) {
  for (const std::string line :
       {"#include <evaluator/scheduling/pipeline.h>", "  #  include \"evaluator/scheduling/pipeline.h\"  // why",
        "#include \"../evaluator/scheduling/pipeline.h\""}) {
    EXPECT_THAT(ForbiddenIncludes("core/genome.cc", line), SizeIs(1)) << line;
  }
  for (const std::string line : {"#include <vector>", "#include <nlohmann/json.hpp>", "// #include \"cli/table.h\"",
                                 "#include \"core/half.h\"", "int engine;"}) {
    EXPECT_THAT(ForbiddenIncludes("core/genome.cc", line), IsEmpty()) << line;
  }
}

TEST(Printing, IsSeen) {
  for (const std::string line : {"std::cout << 1;", "  printf(\"x\");", "std::printf(\"x\");", "std::cerr << 1;", "puts(\"x\");",
                                 "std::exit(1);", "if (x) perror(\"x\");"}) {
    EXPECT_THAT(Printing("engine/evolution.cc", "int x;\n" + line), SizeIs(1)) << line;
    EXPECT_THAT(Printing("cli/main.cc", line), IsEmpty()) << line;
    EXPECT_THAT(Printing("tests/a/b.cc", line), IsEmpty()) << line;
  }
  EXPECT_THAT(Printing("db/rows.cc", "\nstd::cout << 1;\n"), ElementsAre("db/rows.cc:2: only cli/ talks to the user: std::cout"));
}

TEST(Printing, IsCleaned) {
  for (const std::string line : {"fmt::print(context.out, \"x\");", "std::fputs(text, out);", "std::fprintf(stderr, \"x\");"}) {
    EXPECT_THAT(Printing("engine/evolution.cc", line), SizeIs(1)) << line;
    EXPECT_THAT(Printing("cli/commands/best.cc", line), SizeIs(1)) << line;
    EXPECT_THAT(Printing("cli/main.cc", line), SizeIs(1)) << line;
    EXPECT_THAT(Printing("cli/print.cc", line), IsEmpty()) << line;
  }
}

TEST(Printing, OfACommandGoesToItsContext) {
  for (const std::string line : {"Print(stderr, \"x\");", "std::cout << 1;", "printf(\"x\");", "Table table(stdout);"}) {
    EXPECT_THAT(Printing("cli/commands/best.cc", line), SizeIs(1)) << line;
  }
  for (const std::string line : {"Print(context.out, \"x\");", "Print(out_, \"stdout\");"}) {
    EXPECT_THAT(Printing("cli/commands/best.cc", line), IsEmpty()) << line;
  }
}

TEST(Printing, IsNotSeenWhereThereIsNone) {
  for (const std::string line : {"// a kernel's printf(...) goes there", "std::snprintf(buffer, 4, \"x\");",
                                 "text += \"std::cout << 1;\";", "fmt::format(\"x\");", "Fingerprint(x);", "::_exit(1);"}) {
    EXPECT_THAT(Printing("engine/evolution.cc", line), IsEmpty()) << line;
  }
  EXPECT_THAT(Printing("evaluator/workers/worker_main.cc", "std::fprintf(stderr, \"x\");"), IsEmpty());
  EXPECT_THAT(Printing("evaluator/workers/worker_main.cc", "std::printf(\"x\");"), SizeIs(1));
}

}  // namespace
}  // namespace evo::testing
