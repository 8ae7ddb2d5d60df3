#include "cli/kept_sources.h"

#include <gtest/gtest.h>

#include "core/digest.h"
#include "core/error.h"

namespace evo {
namespace {

constexpr std::size_t kLength = 100;

// Sources of kLength characters, one for each value of the parameter BLOCK.
class KeptSourcesTest : public ::testing::Test {
 protected:
  KeptSourcesTest() { run_.templates = {{"naive", Digest("text"), "text"}}; }

  static std::string SourceOf(const Genome& genome) {
    std::string source = std::to_string(genome.parameters.at("BLOCK"));
    source.resize(kLength, ' ');
    return source;
  }

  static CandidateRecord RecordOf(std::int64_t block) {
    CandidateRecord record;
    record.candidate.genome = {"naive", Digest("text"), {{"BLOCK", block}}, {}};
    record.evaluation.source_digest = Digest(SourceOf(record.candidate.genome));
    return record;
  }

  std::string Render(std::int64_t block) { return sources_.Render(run_, RecordOf(block)); }

  RunRecord run_;
  int made_ = 0;
  int rendered_ = 0;
  KeptSources sources_{[this] {
                         ++made_;
                         return [this](const TemplateText&, const Genome& genome) {
                           ++rendered_;
                           return SourceOf(genome);
                         };
                       },
                       3 * kLength};
};

TEST_F(KeptSourcesTest, RendersASourceOnce) {
  EXPECT_EQ(made_, 0) << "workers start when they are needed";
  EXPECT_EQ(Render(64), SourceOf(RecordOf(64).candidate.genome));
  EXPECT_EQ(Render(64), Render(64));
  EXPECT_EQ(rendered_, 1);
  EXPECT_EQ(made_, 1);
}

TEST_F(KeptSourcesTest, KeepsThoseThatWereAskedForLastWithinItsBound) {
  for (const int block : {1, 2, 3, 1, 4}) Render(block);
  EXPECT_EQ(sources_.bytes(), 3 * kLength);
  EXPECT_EQ(rendered_, 4);
  Render(1);
  Render(3);
  Render(4);
  EXPECT_EQ(rendered_, 4) << "2 was not asked for the longest";
  Render(2);
  EXPECT_EQ(rendered_, 5);
  EXPECT_EQ(sources_.bytes(), 3 * kLength);
}

TEST_F(KeptSourcesTest, DoesNotKeepWhatIsAskedForOnce) {
  EXPECT_EQ(sources_.RenderOnce(run_, RecordOf(64)), SourceOf(RecordOf(64).candidate.genome));
  EXPECT_EQ(sources_.bytes(), 0U);
  Render(64);
  EXPECT_EQ(rendered_, 2);
  sources_.RenderOnce(run_, RecordOf(64));
  EXPECT_EQ(rendered_, 2) << "one that is kept is not rendered again";
}

TEST_F(KeptSourcesTest, DoesNotKeepWhatCannotBeRendered) {
  CandidateRecord changed = RecordOf(64);
  changed.evaluation.source_digest = Digest("another");
  EXPECT_THROW(sources_.Render(run_, changed), Error);
  EXPECT_EQ(sources_.bytes(), 0U);
}

}  // namespace
}  // namespace evo
