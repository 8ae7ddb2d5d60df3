#include "core/genome.h"

#include <gmock/gmock.h>

#include <string>

#include "core/error.h"

namespace evo {
namespace {

Genome ExampleGenome() {
  Genome genome;
  genome.template_name = "tiled";
  genome.template_digest = "00112233445566778899aabbccddeeff";
  genome.parameters = {{"BLOCK_N", 64}, {"BLOCK_M", 32}};
  Edit edit;
  edit.op = "loop_unroll";
  edit.anchors = {{"attention", "ForStmt", "t0", 2, "p", "", "a", {0, 3, 1}}};
  edit.source = {{0, Placement::kBefore, "#pragma unroll 4\n"}};
  edit.launch = {{"attention", "block", "32 * WARPS"}};
  edit.parameters = {{"WARPS", 4}};
  genome.edits = {edit};
  return genome;
}

// Must not change: genomes stored by earlier versions must still be found by their hash.
constexpr const char* kExampleJson =
    R"({"edits":[{"anchors":[{"after":"a","before":"","function":"attention","kind":"ForStmt","ordinal":2,"parent":"p",)"
    R"("path":[0,3,1],"tokens":"t0"}],"launch":[{"field":"block","kernel":"attention","text":"32 * WARPS"}],)"
    R"("op":"loop_unroll","parameters":{"WARPS":4},"source":[{"anchor":0,"placement":"before","text":"#pragma unroll 4\n"}]}],)"
    R"("parameters":{"BLOCK_M":32,"BLOCK_N":64},"template":"tiled","template_digest":"00112233445566778899aabbccddeeff"})";

std::string GenomeFailure(const std::string& text) {
  try {
    GenomeFromJson(text);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Genome, CanonicalJsonIsFixed) { EXPECT_EQ(ToCanonicalJson(ExampleGenome()), kExampleJson); }

TEST(Genome, SurvivesTheRoundTrip) {
  EXPECT_EQ(GenomeFromJson(ToCanonicalJson(ExampleGenome())), ExampleGenome());
  EXPECT_EQ(GenomeFromJson(ToCanonicalJson(Genome{})), Genome{});
}

TEST(Genome, HashIsFixedAndDistinguishesGenomes) {
  EXPECT_EQ(GenomeHash(ExampleGenome()), "c1f717b97cd13c6c58e82b57e0e43ada");
  Genome other = ExampleGenome();
  other.parameters["BLOCK_M"] = 64;
  EXPECT_NE(GenomeHash(other), GenomeHash(ExampleGenome()));
  other = ExampleGenome();
  other.edits[0].anchors[0].path.push_back(0);
  EXPECT_NE(GenomeHash(other), GenomeHash(ExampleGenome()));
}

Genome GenomeThatBrings() {
  Genome genome = ExampleGenome();
  genome.edits[0].brings = {{"TILE", {8, 16, 32}, 16}};
  genome.edits[0].constraints = {"TILE <= BLOCK_N"};
  genome.parameters["TILE"] = 32;
  return genome;
}

TEST(Genome, KeepsTheParametersThatAnEditBrings) {
  const Genome genome = GenomeThatBrings();
  const std::string text = ToCanonicalJson(genome);
  EXPECT_THAT(text, testing::HasSubstr(
                        R"("brings":[{"initial":16,"name":"TILE","values":[8,16,32]}],"constraints":["TILE <= BLOCK_N"])"));
  EXPECT_EQ(GenomeFromJson(text), genome);
  EXPECT_NE(GenomeHash(genome), GenomeHash(ExampleGenome()));
}

TEST(Genome, RefusesValuesThatCannotBeSearched) {
  std::string text = ToCanonicalJson(GenomeThatBrings());
  text.replace(text.find("[8,16,32]"), 9, "[8,32,16]");
  EXPECT_THAT(GenomeFailure(text), testing::HasSubstr("'TILE' that an edit brings must ascend"));
  text = ToCanonicalJson(GenomeThatBrings());
  text.replace(text.find("\"initial\":16"), 12, "\"initial\":17");
  EXPECT_THAT(GenomeFailure(text), testing::HasSubstr("17 is not a value of the parameter 'TILE'"));
}

TEST(Genome, LosesAnEditWithTheParametersThatOnlyItBrings) {
  Genome genome = GenomeThatBrings();
  Edit other;
  other.op = "other";
  genome.edits.push_back(other);
  EXPECT_EQ(WithoutEdits(genome, {}), genome);
  const Genome less = WithoutEdits(genome, {0});
  EXPECT_THAT(less.edits, testing::ElementsAre(other));
  EXPECT_EQ(less.parameters, ExampleGenome().parameters);
  EXPECT_EQ(WithoutEdits(genome, {1}).parameters, genome.parameters);
  genome.edits.push_back(genome.edits[0]);
  EXPECT_EQ(WithoutEdits(genome, {0}).parameters, genome.parameters) << "the other edit still brings it";
}

TEST(Genome, JsonWithTwoSpellingsHasOneHash) {
  const std::string spaced = R"({ "template_digest" : "d", "template":"t", "parameters" : {"B":1, "A":2}, "edits" : [] })";
  const std::string plain = R"({"edits":[],"parameters":{"A":2,"B":1},"template":"t","template_digest":"d"})";
  EXPECT_EQ(ToCanonicalJson(GenomeFromJson(spaced)), plain);
  EXPECT_EQ(GenomeHash(GenomeFromJson(spaced)), GenomeHash(GenomeFromJson(plain)));
}

TEST(Genome, MalformedJsonIsAnErrorThatNamesTheField) {
  EXPECT_THAT(GenomeFailure("{"), testing::StartsWith("genome: "));
  EXPECT_THAT(GenomeFailure(R"({"template":"t"})"), testing::HasSubstr("template_digest"));
  EXPECT_THAT(GenomeFailure(R"({"template":1,"template_digest":"","parameters":{},"edits":[]})"),
              testing::HasSubstr("template: must be a string, not a number"));
  std::string text = kExampleJson;
  text.replace(text.find("\"before\",\"text\""), 8, "\"beside\"");
  EXPECT_EQ(GenomeFailure(text), "genome: placement 'beside' is not replace, before or after");
  text = kExampleJson;
  text.replace(text.find("\"anchor\":0"), 10, "\"anchor\":1");
  EXPECT_EQ(GenomeFailure(text), "genome: edit 'loop_unroll' names anchor 1 of 1");
}

}  // namespace
}  // namespace evo
