// report_fixture FOLDER: writes evo.db, with a run and a minimised one after it, and hostile.db into the folder.
// report_fixture FOLDER grow: adds a minimised champion to run 1 of evo.db.
#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdio>
#include <exception>
#include <filesystem>

#include "tests/db/fixture_run.h"
#include "tests/report/hostile_database.h"

namespace {

// Ceilings and declared work, so that there is a roofline and what bounds a kernel is known.
void AddMachine(const std::filesystem::path& database) {
  SQLite::Database db(database.string(), SQLite::OPEN_READWRITE);
  db.exec("UPDATE case_measurement SET operations = 5e5 * weight");
  db.exec(
      "INSERT INTO machine (run, moment, ordinal, launch_ns, control_ratio, dram_bytes_per_s, l2_bytes_per_s, f32_per_s, "
      "tensor_per_s, "
      "l2_bytes, throttle_reason) VALUES (1, 'start', 0, 800, 4, 4.5e11, 8e11, 6e11, 1.2e12, 5e7, '')");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return 2;
  try {
    using namespace evo::testing;
    const std::filesystem::path folder = argv[1];
    if (argc == 3) {
      AddMinimised(folder / "evo.db", 1);
      return 0;
    }
    WriteFixture(folder / "evo.db", FixtureRun());
    AddMachine(folder / "evo.db");
    evo::RunRecord second = FixtureRun();
    second.seed = 2;
    AddMinimised(folder / "evo.db", WriteFixture(folder / "evo.db", second));
    MakeHostile(folder / "hostile.db", WriteFixture(folder / "hostile.db", FixtureRun()));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "report_fixture: %s\n", error.what());
    return 1;
  }
}
