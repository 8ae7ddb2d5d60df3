#include "db/database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <sstream>

#include "db/history.h"
#include "db/sqlite_store.h"
#include "tests/db/fixture_run.h"

namespace evo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing::TemporaryFolder;

std::string MessageOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

std::string Bytes(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

TEST(Migrations, AreNumberedFromOneWithoutGaps) {
  int expected = 1;
  for (const Migration& migration : Migrations()) EXPECT_EQ(migration.version, expected++) << migration.name;
  EXPECT_GT(expected, 1);
}

TEST(OpenForWriting, BringsAnOlderDatabaseUpToDateAndKeepsItsRows) {
  const TemporaryFolder folder;
  const std::string path = (folder / "evo.db").string();
  const RunId run = testing::WriteFixture(path, testing::FixtureRun());
  std::vector<Migration> migrations(Migrations().begin(), Migrations().end());
  const int next = migrations.back().version + 1;
  migrations.push_back({next, "next_note", "ALTER TABLE run ADD COLUMN note TEXT; UPDATE run SET note = 'kept';"});
  auto db = OpenForWriting(path, kBusyTimeout, migrations);
  EXPECT_EQ(db->execAndGet("PRAGMA user_version").getInt(), next);
  EXPECT_EQ(db->execAndGet("SELECT note FROM run WHERE run = " + std::to_string(run)).getString(), "kept");
  EXPECT_EQ(db->execAndGet("SELECT count(*) FROM candidate").getInt(), 7);
}

TEST(OpenForWriting, AMigrationThatFailsLeavesTheOldVersion) {
  const TemporaryFolder folder;
  const std::string path = (folder / "evo.db").string();
  testing::WriteFixture(path, testing::FixtureRun());
  std::vector<Migration> migrations(Migrations().begin(), Migrations().end());
  const int next = migrations.back().version + 1;
  migrations.push_back({next, "next_bad", "CREATE TABLE note (x INTEGER) STRICT; SELECT * FROM no_such_table;"});
  EXPECT_THROW(OpenForWriting(path, kBusyTimeout, migrations), Error);
  SQLite::Database db(path, SQLite::OPEN_READONLY);
  EXPECT_EQ(db.execAndGet("PRAGMA user_version").getInt(), next - 1);
  EXPECT_FALSE(db.tableExists("note"));
}

TEST(Open, RefusesANewerDatabaseAndDoesNotTouchIt) {
  const TemporaryFolder folder;
  const std::string path = (folder / "evo.db").string();
  testing::WriteFixture(path, testing::FixtureRun());
  {
    SQLite::Database db(path, SQLite::OPEN_READWRITE);
    db.exec("PRAGMA user_version = 99");
  }
  const std::string before = Bytes(path);
  const auto refusal = AllOf(StartsWith(path), HasSubstr("newer evo (database version 99"), HasSubstr("not changed"));
  EXPECT_THAT(MessageOf([&] { SqliteStore{path}; }), refusal);
  EXPECT_THAT(MessageOf([&] { History{path}; }), refusal);
  EXPECT_EQ(Bytes(path), before);
}

TEST(Open, RefusesOtherFilesAndDatabases) {
  const TemporaryFolder folder;
  const std::string text = (folder / "notes.txt").string();
  std::ofstream(text) << std::string(5000, 'x');
  EXPECT_THAT(MessageOf([&] { SqliteStore{text}; }), AllOf(StartsWith(text), HasSubstr("not a database; name another")));
  EXPECT_THAT(MessageOf([&] { History{text}; }), HasSubstr("not a database"));
  EXPECT_EQ(Bytes(text), std::string(5000, 'x'));
  const std::string other = (folder / "mail.db").string();
  SQLite::Database(other, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec("CREATE TABLE mail (id INTEGER)");
  const std::string before = Bytes(other);
  EXPECT_THAT(MessageOf([&] { SqliteStore{other}; }), HasSubstr("another program"));
  EXPECT_EQ(Bytes(other), before);
  EXPECT_THAT(MessageOf([&] { SqliteStore{folder.path().string()}; }), HasSubstr("a folder, not a database"));
  EXPECT_THAT(MessageOf([&] { SqliteStore{(folder / "none/evo.db").string()}; }), HasSubstr("check that the folder exists"));
}

TEST(Open, RefusesWhatIsNotARegularFile) {
  const TemporaryFolder folder;
  const std::string pipe = (folder / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string link = (folder / "link").string();
  symlink("/dev/null", link.c_str());
  for (const auto& [path, what] :
       {std::pair<std::string, std::string>{pipe, pipe + ": a pipe, not a database"},
        {link, link + ": a device, not a database"},
        {folder.path().string(), "a folder, not a database"},
        {":memory:", ":memory:: memory that is lost at the end, not a database; name a file with --db"},
        {"file:evo.db?mode=memory", "an address, not a database"},
        {"", "a database without a name"}}) {
    EXPECT_THAT(MessageOf([&, path = path] { SqliteStore{path}; }), HasSubstr(what));
    EXPECT_THAT(MessageOf([&, path = path] { History{path}; }), HasSubstr(what));
    EXPECT_THROW(SqliteStore{path}, UsageError) << path;
  }
}

TEST(Open, WaitsForALockAndThenReportsIt) {
  const TemporaryFolder folder;
  const std::string path = (folder / "evo.db").string();
  SqliteStore store(path, {.longest = std::chrono::milliseconds(50)});
  SQLite::Database other(path, SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  EXPECT_THAT(MessageOf([&] { store.BeginRun(testing::FixtureRun()); }),
              AllOf(StartsWith(path), HasSubstr("locked by another program")));
  other.exec("ROLLBACK");
  EXPECT_EQ(store.BeginRun(testing::FixtureRun()), 1);
}

TEST(Explained, AFullDiskNamesTheRemedy) {
  const TemporaryFolder folder;
  const std::string path = (folder / "evo.db").string();
  SQLite::Database db(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  db.exec("PRAGMA max_page_count = 2");
  db.exec("CREATE TABLE big (x BLOB)");
  EXPECT_THAT(MessageOf([&] { Explaining(path, [&] { db.exec("INSERT INTO big VALUES (zeroblob(100000))"); }); }),
              AllOf(StartsWith(path), HasSubstr("the disk is full; free some space, then go on with `evo run --resume`")));
}

TEST(Explained, EveryMessageIsOneLineWithThePathAndARemedy) {
  for (const int code : {SQLITE_NOTADB, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY, SQLITE_FULL, SQLITE_BUSY, SQLITE_LOCKED,
                         SQLITE_CORRUPT, SQLITE_IOERR, SQLITE_CONSTRAINT}) {
    const std::string message = Explained(SQLite::Exception("constraint failed", code), "a.db").what();
    EXPECT_THAT(message, AllOf(StartsWith("a.db: "), HasSubstr("; "), Not(HasSubstr("\n")))) << code;
  }
}

// Runs `check` in a child process without root's rights, so that file permissions apply. Returns its result.
bool WithoutRootRights(const std::function<bool()>& check) {
  const pid_t child = fork();
  if (child == 0) {
    bool good = false;
    if (geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0)) {
      try {
        good = check();
      } catch (...) {
        good = false;
      }
    }
    _exit(good ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Open, AReadOnlyDatabaseIsReadAndNotWritten) {
  const TemporaryFolder folder;
  const std::string path = (folder / "evo 50%?.db").string();
  testing::WriteFixture(path, testing::FixtureRun());
  chmod(path.c_str(), 0444);
  chmod(folder.path().c_str(), 0555);
  EXPECT_TRUE(WithoutRootRights([&] { return History(path).Best(1)->candidate.id == 6; }));
  EXPECT_TRUE(WithoutRootRights([&] {
    const std::string message = MessageOf([&] { SqliteStore{path}; });
    return message.find("; make the file and its folder writable") != std::string::npos ||
           message.find("; check that the folder exists and that you may read and write it") != std::string::npos;
  }));
  chmod(path.c_str(), 0000);
  EXPECT_TRUE(WithoutRootRights([&] { return MessageOf([&] { History{path}; }).find("cannot be opened") != std::string::npos; }));
  chmod(folder.path().c_str(), 0755);
}

TEST(Open, AnOlderReadOnlyDatabaseSaysThatItMustBeBroughtUpToDate) {
  const TemporaryFolder folder;
  const std::string path = (folder / "evo.db").string();
  OpenForWriting(path, kBusyTimeout, Migrations().first(7));
  chmod(path.c_str(), 0444);
  chmod(folder.path().c_str(), 0555);
  EXPECT_TRUE(WithoutRootRights([&] {
    return MessageOf([&] { History{path}; }).find("older evo (database version 7) and read-only") != std::string::npos;
  }));
  chmod(folder.path().c_str(), 0755);
}

}  // namespace
}  // namespace evo
