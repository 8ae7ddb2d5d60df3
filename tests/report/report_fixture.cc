// report_fixture FOLDER: writes evo.db, with a run and a minimised one after it, and hostile.db into the folder.
// report_fixture FOLDER grow: adds a minimised champion to run 1 of evo.db.
#include <cstdio>
#include <exception>
#include <filesystem>

#include "tests/db/fixture_run.h"
#include "tests/report/hostile_database.h"

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
