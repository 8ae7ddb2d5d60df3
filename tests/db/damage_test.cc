#include "db/damage.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/db/fixture_run.h"

namespace evo {
namespace {

using Generations = std::vector<GenerationRecord>;

std::string DamageAfter(const std::function<void(Generations&)>& change) {
  Generations generations = testing::FixtureGenerations();
  change(generations);
  const std::optional<Damage> damage = FindDamage(4, generations);
  return damage ? Describe("evo.db", *damage) : "";
}

TEST(FindDamage, PassesAWholeHistory) {
  EXPECT_EQ(DamageAfter([](Generations&) {}), "");
  EXPECT_EQ(DamageAfter([](Generations& g) { g.clear(); }), "") << "a run that was ended before its first generation";
  EXPECT_EQ(DamageAfter([](Generations& g) { g.emplace_back().generation = 3; }), "") << "no new child";
}

TEST(FindDamage, NamesWhatIsWrong) {
  EXPECT_EQ(DamageAfter([](Generations& g) { g.erase(g.begin()); }), "evo.db: run 4: its generation 0 is missing");
  EXPECT_EQ(DamageAfter([](Generations& g) { g.erase(g.begin() + 1); }), "evo.db: run 4: its generation 1 is missing");
  EXPECT_EQ(DamageAfter([](Generations& g) { g[0] = {}; }), "evo.db: run 4: its generation 0 has no candidates");
  EXPECT_EQ(DamageAfter([](Generations& g) { g[1].candidates[1].id = 2; }),
            "evo.db: run 4, candidate 2: it comes after candidate 3");
  EXPECT_EQ(DamageAfter([](Generations& g) { g[2].candidates[0].parents = {9}; }),
            "evo.db: run 4, candidate 6: no earlier candidate is its parent 9");
  EXPECT_EQ(DamageAfter([](Generations& g) { g[0].evaluations[1].score_ns = kNoValue; }),
            "evo.db: run 4, candidate 2: its outcome is ok, and its score is nan ns");
  EXPECT_EQ(DamageAfter([](Generations& g) { g[0].evaluations[1].cases.clear(); }),
            "evo.db: run 4, candidate 2: its outcome is ok, and its measurements are missing");
  EXPECT_EQ(DamageAfter([](Generations& g) { g[0].evaluations[1].cases[0].median_ns = -1; }),
            "evo.db: run 4, candidate 2: its outcome is ok, and its median on case small is -1 ns");
}

TEST(Damaged, SaysWhatToDo) {
  EXPECT_STREQ(Damaged("evo.db", {4, {}, "its generation 0 is missing"}).what(),
               "evo.db: run 4: its generation 0 is missing; go back to a copy of the database, or begin a new run");
}

}  // namespace
}  // namespace evo
