#include "evaluator/gate/input_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/error.h"
#include "evaluator/gate/input_generator.h"
#include "tests/evaluator/mixed_task.h"

namespace evo {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

class InputPrograms : public ::testing::Test {
 protected:
  // The values of the argument that the text begins with.
  std::vector<double> Drawn(const std::string& text, std::uint64_t seed = 1) const {
    const DrawnArguments drawn = DrawArguments(task_, task_.small, ParseInputProgram(text, seed, task_));
    const std::string name = text.substr(0, text.find(':'));
    for (std::size_t i = 0; i < task_.arguments.size(); ++i)
      if (task_.arguments[i].name == name) return ToDoubles(drawn[i], task_.arguments[i].dtype);
    return {};
  }
  std::string Refused(const std::string& text) const {
    try {
      ParseInputProgram(text, 1, task_);
      return "";
    } catch (const UsageError& error) {
      return error.what();
    }
  }
  std::string Described(const std::string& text) const { return Describe(ParseInputProgram(text, 1, task_), task_, task_.small); }

  const Task task_ = ParseTask(kMixedTask, kMixedReference, "mixed");
};

TEST_F(InputPrograms, ComeBackFromTheirText) {
  for (const std::string text :
       {"", "x: normal(0,1)", "x: normal(0,1) | spike(212,511)", "h: uniform(-1,1) | scale(1e-30) ; x: log_uniform(0.001,1000)",
        "x: cauchy(2) | mask_second(-inf) | mask_first(-1e+09,0.25)", "i: index<N * 2 | all_largest", "x: sparse(0.5) | abs",
        "j: index<(N | 1) | repeat(4)", "p: permutation | sort_descending", "o: offsets<N | take_all(-1)",
        "x: normal(0,1) | set(3,-inf) | set(-1,1e-310) | alternate | alternate(0.5) | scale_row(2) | scale_row(1,2)"}) {
    const InputProgram program = ParseInputProgram(text, 7, task_);
    EXPECT_EQ(ToText(program), text);
    EXPECT_EQ(program.seed, 7U);
  }
  EXPECT_EQ(ToText(ParseInputProgram(" x : normal|scale( 1e3 ) ;i:index<N * 2", 1, task_)),
            "i: index<N * 2 ; x: normal(0,1) | scale(1000)");
  for (const ChangeForm& form : ChangeForms()) {
    const InputChange change{form.kind, std::vector<double>(form.numbers.size(), 1)};
    EXPECT_EQ(ParseInputChange(ToText(change)), change);
  }
}

TEST_F(InputPrograms, RefuseWhatIsNoInput) {
  EXPECT_EQ(Refused("z: normal"), "input 'z: normal': task mixed has no input 'z'");
  EXPECT_THAT(Refused("y: normal"), HasSubstr("no input 'y'"));
  EXPECT_THAT(Refused("x: normal ; x: normal"), HasSubstr("'x' is there twice"));
  EXPECT_THAT(Refused("x normal"), HasSubstr("write ARGUMENT: DISTRIBUTION | CHANGE | .."));
  EXPECT_THAT(Refused("x: gaussian"), HasSubstr("no generator 'gaussian'"));
  EXPECT_THAT(Refused("x: permutation"), HasSubstr("'permutation' cannot fill f32"));
  EXPECT_THAT(Refused("x: normal | explode"), HasSubstr("no change 'explode'"));
  EXPECT_THAT(Refused("x: normal | scale"), HasSubstr("'scale' has the wrong number of numbers"));
  EXPECT_THAT(Refused("x: normal | scale(1,2)"), HasSubstr("wrong number of numbers"));
  EXPECT_THAT(Refused("x: normal | scale(a)"), HasSubstr("'a' is not a number"));
  EXPECT_THAT(Refused("x: normal | scale(inf)"), HasSubstr("inf is not possible"));
  EXPECT_THAT(Refused("x: normal | spike(nan)"), HasSubstr("nan is not possible"));
  EXPECT_THAT(Refused("x: normal | spike(1,0.5)"), HasSubstr("0.5 is not possible"));
  EXPECT_THAT(Refused("x: normal | repeat(0)"), HasSubstr("0 is not possible"));
  EXPECT_THAT(Refused("x: normal | mask_first(0,2)"), HasSubstr("2 is not possible"));
  EXPECT_THAT(Refused("x: normal | scale(1"), HasSubstr("a ')' is missing"));
}

TEST_F(InputPrograms, KeepIntegersToTheTasksOwnGenerators) {
  EXPECT_THAT(Refused("i: index<N * 3"), HasSubstr("'index<N * 3' is not one of the argument's generators"));
  EXPECT_THAT(Refused("i: index<N * 2 | shift(1)"), HasSubstr("'shift(1)' does not fit index<N * 2 of type i32"));
  EXPECT_THAT(Refused("p: permutation | equal_rows"), HasSubstr("does not fit"));
  EXPECT_THAT(Refused("p: permutation | set(0,0)"), HasSubstr("does not fit"));
  EXPECT_THAT(Refused("o: offsets<N | reverse"), HasSubstr("does not fit"));
  EXPECT_THAT(Refused("x: normal | all_largest"), HasSubstr("does not fit"));
}

// x is 3 rows of 4.
TEST_F(InputPrograms, ChangeRealNumbers) {
  const std::string four = "x: constant(4) | ";
  EXPECT_THAT(Drawn(four + "scale(0.5) | shift(-3)"), Each(-1.0));
  EXPECT_THAT(Drawn(four + "shift(-5) | abs"), Each(1.0));
  EXPECT_THAT(Drawn(four + "shift(0.3) | round(0.5)"), Each(4.5));
  EXPECT_THAT(Drawn(four + "scale_row(1,2)"), ElementsAre(4, 4, 4, 4, 8, 8, 8, 8, 4, 4, 4, 4));
  EXPECT_THAT(Drawn(four + "shift_row(-1,2)"), ElementsAre(4, 4, 4, 4, 4, 4, 4, 4, 6, 6, 6, 6));
  EXPECT_THAT(Drawn(four + "scale_column(-1,2)"), ElementsAre(4, 4, 4, 8, 4, 4, 4, 8, 4, 4, 4, 8));
  EXPECT_THAT(Drawn(four + "scale_rows(0.25,4)"), ElementsAre(1, 1, 1, 1, 4, 4, 4, 4, 16, 16, 16, 16));
  EXPECT_THAT(Drawn(four + "spike(9,5)"), ElementsAre(4, 9, 4, 4, 4, 9, 4, 4, 4, 9, 4, 4));
  EXPECT_THAT(Drawn(four + "mask_first(0)"), ElementsAre(0, 0, 4, 4, 0, 0, 4, 4, 0, 0, 4, 4));
  EXPECT_THAT(Drawn(four + "mask_second(-inf,0.25)"),
              ElementsAre(4, 4, 4, -kUnbounded, 4, 4, 4, -kUnbounded, 4, 4, 4, -kUnbounded));
  EXPECT_THAT(Drawn(four + "ramp(-3,0)"), ElementsAre(1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4));
  EXPECT_THAT(Drawn(four + "ramp(-3,0) | reverse"), ElementsAre(4, 3, 2, 1, 4, 3, 2, 1, 4, 3, 2, 1));
  EXPECT_THAT(Drawn(four + "ramp(0,-3) | sort_ascending"), ElementsAre(1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4));
  EXPECT_THAT(Drawn(four + "ramp(-3,0) | sort_descending"), ElementsAre(4, 3, 2, 1, 4, 3, 2, 1, 4, 3, 2, 1));
  EXPECT_THAT(Drawn(four + "ramp(-3,0) | repeat(3)"), ElementsAre(1, 1, 1, 4, 1, 1, 1, 4, 1, 1, 1, 4));
  EXPECT_THAT(Drawn(four + "ramp(-3,0) | constant_rows"), Each(1.0));
  EXPECT_THAT(Drawn(four + "alternate(0.5)"), ElementsAre(4, -2, 4, -2, 4, -2, 4, -2, 4, -2, 4, -2));
  EXPECT_THAT(Drawn(four + "set(6,7) | set(-1,-inf)"), ElementsAre(4, 4, 4, 4, 4, 4, 7, 4, 4, 4, 4, -kUnbounded));
}

TEST_F(InputPrograms, PlaceRandomChanges) {
  const std::vector<double> one = Drawn("x: constant(4) | spike(9)");
  EXPECT_EQ(std::ranges::count(one, 9.0), 1);
  const std::vector<double> many = Drawn("x: constant(4) | spikes(9)");
  for (std::ptrdiff_t row = 0; row < 12; row += 4) EXPECT_EQ(std::count(many.begin() + row, many.begin() + row + 4, 9.0), 1);
  const std::vector<double> row = Drawn("x: constant(4) | scale_row(2)");
  EXPECT_EQ(std::ranges::count(row, 8.0), 4);
  const std::vector<double> equal = Drawn("x: normal | equal_rows");
  EXPECT_TRUE(std::equal(equal.begin(), equal.begin() + 4, equal.begin() + 8));
  EXPECT_NE(equal[0], equal[1]);
  EXPECT_THAT(Drawn("x: constant(4) | mask_random(1,1)"), Each(1.0));
  EXPECT_THAT(Drawn("x: constant(4) | mask_random(1,0)"), Each(4.0));
  std::vector<double> shuffled = Drawn("x: constant(4) | ramp(-3,0) | shuffle");
  std::sort(shuffled.begin(), shuffled.begin() + 4);
  EXPECT_THAT(std::vector<double>(shuffled.begin(), shuffled.begin() + 4), ElementsAre(1, 2, 3, 4));
}

TEST_F(InputPrograms, AreTheSameForTheSameSeed) {
  for (const std::string text : {"x: normal | spike(200) | mask_random(0)", "i: index<N * 2 | shuffle", "", "h: cauchy(1)"}) {
    const auto drawn = [&](std::uint64_t seed) {
      return DrawArguments(task_, task_.small, ParseInputProgram(text, seed, task_));
    };
    EXPECT_EQ(drawn(3), drawn(3)) << text;
    EXPECT_NE(drawn(3), drawn(4)) << text;
  }
}

TEST_F(InputPrograms, DrawTheSameNumbersAfterASmallChange) {
  const std::vector<double> before = Drawn("x: normal | mask_random(9)");
  const std::vector<double> after = Drawn("x: normal | set(0,1) | scale(1) | mask_random(9)");
  EXPECT_TRUE(std::equal(before.begin() + 1, before.end(), after.begin() + 1)) << "streams do not depend on other changes";
}

TEST_F(InputPrograms, AreInfiniteOnlyWhereTheyAskForIt) {
  EXPECT_THAT(Drawn("x: constant(-3) | scale(1e300) | scale(1e300)"), Each(-double{std::numeric_limits<float>::max()}));
  EXPECT_THAT(Drawn("h: constant(3) | scale(1e6)"), Each(65504.0));
  EXPECT_THAT(Drawn("h: constant(1e9)"), Each(65504.0));
  EXPECT_THAT(Drawn("b: constant(1e39)"), Each(0x1.fep127));
  EXPECT_THAT(Drawn("h: constant(3) | spike(inf,0) | spike(-inf,1)"), ElementsAre(kUnbounded, -kUnbounded, 3, 3, 3, 3, 3, 3, 3));
}

TEST_F(InputPrograms, NeverMakeNan) {
  for (const std::string text : {"x: constant(1) | spike(inf,0) | scale(0)", "x: constant(1) | spike(-inf,1) | alternate(-1)",
                                 "x: constant(1) | round(0)", "x: cauchy(1e300) | scale(1e300) | scale(0)"}) {
    for (const double value : Drawn(text)) EXPECT_FALSE(std::isnan(value)) << text;
  }
}

TEST_F(InputPrograms, RoundOnce) {
  EXPECT_THAT(Drawn("h: constant(1) | shift(0.00048828125) | shift(1e-12)"), Each(1 + 0x1p-10)) << "just above the tie: up";
  EXPECT_THAT(Drawn("h: constant(1) | shift(0.00048828125)"), Each(1.0)) << "a tie goes to even";
  EXPECT_THAT(Drawn("b: constant(1) | shift(0.00390625) | shift(1e-12)"), Each(1 + 0x1p-7));
  EXPECT_THAT(Drawn("x: constant(1) | scale(1e-40)"), Each(static_cast<double>(1e-40F)));
}

// i: 2 rows of 6 below 2 N = 24; p: 12 elements; o: 5 offsets up to 12.
TEST_F(InputPrograms, KeepIntegersLegal) {
  EXPECT_THAT(Drawn("i: index<N * 2 | all_smallest"), Each(0.0));
  EXPECT_THAT(Drawn("i: index<N * 2 | all_largest"), Each(23.0));
  const std::vector<double> outside = Drawn("i: index<N * 2 | set(0,1000) | set(1,-5) | set(2,inf) | set(3,2.5) | spike(-7,4)");
  EXPECT_EQ(std::vector<double>(outside.begin(), outside.begin() + 5), (std::vector<double>{23, 0, 23, 2, 0}));
  const std::vector<double> sorted = Drawn("i: index<N * 2 | sort_ascending");
  EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.begin() + 6));
  EXPECT_THAT(Drawn("p: permutation | sort_ascending"), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  EXPECT_THAT(Drawn("p: permutation | sort_descending"), ElementsAre(11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
  const std::vector<double> shuffled = Drawn("p: permutation | sort_ascending | shuffle");
  EXPECT_EQ(std::set<double>(shuffled.begin(), shuffled.end()).size(), 12U);
  EXPECT_THAT(Drawn("o: offsets<N | take_all(0)"), ElementsAre(0, 12, 12, 12, 12));
  EXPECT_THAT(Drawn("o: offsets<N | take_all(-1)"), ElementsAre(0, 0, 0, 0, 12));
  EXPECT_THAT(Drawn("o: offsets<N | take_all(1)"), ElementsAre(0, 0, 12, 12, 12));
}

TEST_F(InputPrograms, RefuseAProgramOfAnotherTask) {
  InputProgram program;
  program.arguments["unknown"] = {};
  EXPECT_THROW(DrawArguments(task_, task_.small, program), Error);
  program.arguments.clear();
  program.arguments["i"] = {};  // normal numbers
  EXPECT_THROW(DrawArguments(task_, task_.small, program), Error);
}

TEST_F(InputPrograms, AreDescribedInWords) {
  EXPECT_EQ(Described(""), "as drawn for timing");
  EXPECT_EQ(Described("x: normal | set(9,212)"), "x: normal; row 2, 212 at column 1");
  EXPECT_EQ(Described("x: normal | spike(-200,0) ; h: uniform(-1,1) | mask_second(-inf) | mask_first(-1e9,0.25)"),
            "x: normal; dip -200 at column 0 of every row. h: uniform(-1,1); last half of every row -inf; first 25% of every row "
            "-1e+09");
  EXPECT_EQ(Described("p: permutation | sort_descending ; o: offsets<N | take_all(1)"),
            "p: permutation; every row descending. o: offsets<N; row 1 has all elements");
}

TEST_F(InputPrograms, NameRandomPlacesWhereTheyAre) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const std::vector<double> drawn = Drawn("x: constant(0) | spike(7)", seed);
    const auto place = std::ranges::find(drawn, 7.0) - drawn.begin();
    EXPECT_EQ(Describe(ParseInputProgram("x: constant(0) | spike(7)", seed, task_), task_, task_.small),
              "x: constant(0); row " + std::to_string(place / 4) + ", spike 7 at column " + std::to_string(place % 4));
  }
}

}  // namespace
}  // namespace evo
