#include "db/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace evo {
namespace {

namespace fs = std::filesystem;

// Only one thread at a time uses a connection. Otherwise SQLite takes a lock for each value that is read.
int OneThread(int flags) { return SQLite::OPEN_NOMUTEX | flags; }

int Pragma(SQLite::Database& db, const std::string& name) { return db.execAndGet("PRAGMA " + name).getInt(); }

// Refuses a file of another program or of a newer evo, without writing to it. Returns the version; 0 for an empty database.
int CheckedVersion(SQLite::Database& db, const std::string& path, int newest) {
  const int version = Pragma(db, "user_version");
  const int application = Pragma(db, "application_id");
  const bool empty = db.execAndGet("SELECT count(*) FROM sqlite_schema").getInt() == 0;
  if (application != kApplicationId && !(empty && application == 0 && version == 0)) {
    throw Error(fmt::format("{}: a SQLite database of another program; name another file with --db", path));
  }
  if (version > newest) {
    throw Error(
        fmt::format("{}: written by a newer evo (database version {}, this one knows up to {}); it was not changed; use the "
                    "newer evo or another file with --db",
                    path, version, newest));
  }
  return version;
}

UsageError Refused(const std::string& path, std::string_view what) {
  return UsageError(fmt::format("{}: {}, not a database; name a file with --db", path, what));
}

// Opening a pipe waits for ever; memory is gone when the run ends.
void CheckFile(const std::string& path) {
  if (path.empty()) throw UsageError("a database without a name; name a file with --db");
  if (path == ":memory:") throw Refused(path, "memory that is lost at the end");
  if (path.starts_with("file:")) throw Refused(path, "an address");
  std::error_code failed;
  switch (fs::status(path, failed).type()) {
    case fs::file_type::directory:
      throw Refused(path, "a folder");
    case fs::file_type::fifo:
      throw Refused(path, "a pipe");
    case fs::file_type::socket:
      throw Refused(path, "a socket");
    case fs::file_type::character:
    case fs::file_type::block:
      throw Refused(path, "a device");
    default:
      return;
  }
}

int NewestVersion(std::span<const Migration> migrations) { return migrations.empty() ? 0 : migrations.back().version; }

// Each step and its version number are one transaction, so that two programs that migrate at once wait for each other.
void Migrate(SQLite::Database& db, const std::string& path, std::span<const Migration> migrations) {
  for (const Migration& migration : migrations) {
    if (CheckedVersion(db, path, NewestVersion(migrations)) >= migration.version) continue;
    SQLite::Transaction transaction(db, SQLite::TransactionBehavior::IMMEDIATE);
    if (Pragma(db, "user_version") < migration.version) {
      db.exec(migration.sql);
      db.exec(fmt::format("PRAGMA application_id = {}", kApplicationId));
      db.exec(fmt::format("PRAGMA user_version = {}", migration.version));
    }
    transaction.commit();
  }
}

// Even for reading, a database in WAL mode needs a -shm file in its folder. Where that cannot be made and no program writes, the
// database can be read as a file that does not change.
std::unique_ptr<SQLite::Database> OpenImmutable(const std::string& path) {
  std::string escaped;
  for (const char c : fs::absolute(path).string()) {
    const bool special = c == '?' || c == '#' || c == '%';
    escaped += special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return std::make_unique<SQLite::Database>("file://" + escaped + "?immutable=1",
                                            OneThread(SQLite::OPEN_READONLY | SQLite::OPEN_URI));
}

// Begins the transaction. Returns the version.
int BeginReading(SQLite::Database& db, const std::string& path) {
  db.exec("BEGIN");
  const int version = CheckedVersion(db, path, NewestVersion(Migrations()));
  if (version == 0) throw UsageError(fmt::format("{}: empty; `evo run --db {}` fills it", path, path));
  return version;
}

}  // namespace

Error Explained(const SQLite::Exception& error, const std::string& path) {
  const auto line = [&](std::string_view what, std::string_view remedy) {
    return Error(fmt::format("{}: {}; {}", path, what, remedy));
  };
  switch (error.getErrorCode()) {
    case SQLITE_NOTADB:
      return line("not a database", "name another file with --db");
    case SQLITE_CANTOPEN:
      return line("cannot be opened", "check that the folder exists and that you may read and write it");
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY:
      return line("read-only", "make the file and its folder writable, or name another with --db");
    case SQLITE_FULL:
      return line("the disk is full", "free some space, then go on with `evo run --resume`");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return line("locked by another program", "end that program, or wait for it, and try again");
    case SQLITE_CORRUPT:
      return line("damaged", "recover it with `sqlite3 FILE .recover`, or go on with another file named with --db");
    case SQLITE_IOERR:
      return line(fmt::format("cannot be read or written ({})", error.getErrorStr()), "check the disk and the free space on it");
    default:
      return line(fmt::format("SQLite failed ({})", error.what()), "check the file with `sqlite3 FILE 'PRAGMA integrity_check'`");
  }
}

std::unique_ptr<SQLite::Database> OpenForWriting(const std::string& path, std::chrono::milliseconds busy_timeout,
                                                 std::span<const Migration> migrations) {
  return Explaining(path, [&] {
    CheckFile(path);
    const int timeout = static_cast<int>(busy_timeout.count());
    const int newest = NewestVersion(migrations);
    auto db = std::make_unique<SQLite::Database>(path, OneThread(SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE), timeout);
    CheckedVersion(*db, path, newest);  // before the first write, that of the journal mode
    // A step that makes a table anew would delete the rows that refer to the old one.
    db->exec("PRAGMA foreign_keys = OFF");
    db->exec("PRAGMA journal_mode = WAL");
    // A generation is one transaction and holds seconds of a GPU's work: wait for the disk, so that a power cut loses none.
    db->exec("PRAGMA synchronous = FULL");
    Migrate(*db, path, migrations);
    db->exec("PRAGMA foreign_keys = ON");
    return db;
  });
}

std::unique_ptr<SQLite::Database> OpenForReading(const std::string& path) {
  CheckFile(path);
  std::error_code failed;
  if (!fs::exists(path, failed)) throw UsageError(fmt::format("{}: no such database; `evo run --db {}` makes one", path, path));
  return Explaining(path, [&] {
    const int timeout = static_cast<int>(kBusyTimeout.count());
    try {
      auto db = std::make_unique<SQLite::Database>(path, OneThread(SQLite::OPEN_READONLY), timeout);
      if (BeginReading(*db, path) == NewestVersion(Migrations())) return db;
      db.reset();
      OpenForWriting(path, kBusyTimeout, Migrations());  // brings an older one up to date, because the queries know one layout
      db = std::make_unique<SQLite::Database>(path, OneThread(SQLite::OPEN_READONLY), timeout);
      BeginReading(*db, path);
      return db;
    } catch (const SQLite::Exception& error) {
      std::error_code unknown;
      const auto wal = fs::file_size(path + "-wal", unknown);
      const bool unwritten = error.getErrorCode() == SQLITE_CANTOPEN || error.getErrorCode() == SQLITE_READONLY;
      if (!unwritten || (!unknown && wal > 0)) throw;
    }
    auto db = OpenImmutable(path);
    if (const int version = BeginReading(*db, path); version < NewestVersion(Migrations())) {
      throw Error(
          fmt::format("{}: written by an older evo (database version {}) and read-only, so that it cannot be brought up to date; "
                      "make the file and its folder writable, or copy it to another folder",
                      path, version));
    }
    return db;
  });
}

}  // namespace evo
