// The queries of docs/database.md answer.

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "tests/db/fixture_run.h"

namespace evo {
namespace {

std::string Page() {
  std::ifstream file(EVO_SOURCE_ROOT "/docs/database.md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> Queries() {
  constexpr std::string_view kBegin = "```sql\n";
  const std::string page = Page();
  std::vector<std::string> queries;
  for (std::size_t at = page.find(kBegin); at != std::string::npos; at = page.find(kBegin, at)) {
    at += kBegin.size();
    queries.push_back(page.substr(at, page.find("```", at) - at));
  }
  return queries;
}

class Documented : public ::testing::Test {
 protected:
  Documented() : path_((folder_ / "evo.db").string()) {
    testing::WriteFixture(path_, testing::FixtureRun());
    testing::AddMinimised(path_, 1);
  }
  testing::TemporaryFolder folder_;
  std::string path_;
};

TEST_F(Documented, EveryQueryHasAnAnswer) {
  SQLite::Database db(path_);
  const std::vector<std::string> queries = Queries();
  EXPECT_EQ(queries.size(), 10U);
  for (const std::string& query : queries) {
    SQLite::Statement row(db, query);
    EXPECT_TRUE(row.executeStep()) << query;
  }
}

// A column that a new migration adds has to be explained.
TEST_F(Documented, EveryTableAndColumnIsNamed) {
  SQLite::Database db(path_);
  const std::string page = Page();
  SQLite::Statement column(
      db,
      "SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c "
      "WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite%' AND m.name NOT LIKE '%\\_v7' ESCAPE '\\' "
      "AND m.name <> 'operator_earned'");
  while (column.executeStep()) {
    for (int i : {0, 1}) {
      const std::string name = column.getColumn(i).getString();
      EXPECT_NE(page.find(name), std::string::npos) << column.getColumn(0).getString() << "." << name;
    }
  }
}

}  // namespace
}  // namespace evo
