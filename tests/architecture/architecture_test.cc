// The arrows of docs/architecture.md hold, every header stands alone, and only cli/ talks to the user.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace evo {
namespace {

namespace fs = std::filesystem;

// Folder to the folders of ours that it may include.
const std::map<std::string, std::set<std::string>> kArrows = {
    {"core", {}},
    {"syntax", {"core"}},
    {"kernel_templates", {"core"}},
    {"mutators", {"core", "syntax", "kernel_templates"}},
    {"evaluator", {"core", "kernel_templates"}},
    {"db", {"core"}},
    {"engine", {"core", "mutators"}},
    {"cli", {"core", "syntax", "kernel_templates", "mutators", "evaluator", "db", "engine"}},
};

struct Include {
  int line;
  std::string folder;
};

std::vector<Include> IncludesOfOurs(const std::string& text) {
  static const std::regex kInclude(R"re(^\s*#\s*include\s*"([a-z_]+)/[^"]+")re");
  std::vector<Include> found;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::smatch match;
    if (std::regex_search(line, match, kInclude)) found.push_back({number, match[1]});
  }
  return found;
}

std::vector<std::string> ForbiddenIncludes(const std::string& folder, const std::string& file, const std::string& text) {
  std::vector<std::string> forbidden;
  for (const Include& include : IncludesOfOurs(text)) {
    if (include.folder == folder || !kArrows.count(include.folder) || kArrows.at(folder).count(include.folder)) continue;
    forbidden.push_back(file + ":" + std::to_string(include.line) + ": " + folder + " must not include " + include.folder);
  }
  return forbidden;
}

std::string Read(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <typename Visit>
void ForEachSource(const Visit& visit) {
  int files = 0;
  for (const auto& [folder, allowed] : kArrows) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(EVO_SOURCE_DIR) / folder)) {
      const std::string path = entry.path().string();
      // What kernels see is not ours to order: it is included by their compilers alone.
      if (path.find("/include/") != std::string::npos || (entry.path().extension() != ".h" && entry.path().extension() != ".cc")) continue;
      visit(folder, entry.path());
      ++files;
    }
  }
  EXPECT_GT(files, 100);
}

TEST(Architecture, FindsAForbiddenInclude) {
  EXPECT_EQ(ForbiddenIncludes("core", "x.h", "#include <map>\n#include \"core/genome.h\"\n").size(), 0u);
  const auto forbidden = ForbiddenIncludes("engine", "x.cc", "\n  # include \"evaluator/pipeline.h\"\n");
  ASSERT_EQ(forbidden.size(), 1u);
  EXPECT_EQ(forbidden.front(), "x.cc:2: engine must not include evaluator");
}

TEST(Architecture, ArrowsHold) {
  ForEachSource([](const std::string& folder, const fs::path& file) {
    for (const std::string& line : ForbiddenIncludes(folder, file.string(), Read(file))) ADD_FAILURE() << line;
  });
}

TEST(Architecture, OnlyTheCommandLinePrints) {
  const std::regex prints(R"(\b(std::cout|std::cerr|std::printf|std::puts|fmt::print)\b|[^\w:]printf\()");
  ForEachSource([&](const std::string& folder, const fs::path& file) {
    // A worker that cannot speak the protocol has only standard error left.
    if (folder == "cli" || file.filename() == "worker_main.cc") return;
    std::istringstream lines(Read(file));
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (std::regex_search(line.substr(0, line.find("//")), prints)) ADD_FAILURE() << file.string() << ":" << number << ": " << line;
    }
  });
}

}  // namespace
}  // namespace evo
