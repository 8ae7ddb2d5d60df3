#include "evaluator/protocol.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "evaluator/evaluation_messages.h"

namespace evo {
namespace {

Message Sample() { return {{{"type", "job"}, {"text", "grün \xff\xfe"}}, {std::string("\0\1\2", 3), "", "body"}}; }

TEST(Protocol, CutsAStreamIntoMessagesWhateverThePieces) {
  const std::string bytes = Encode(Sample()) + Encode({{{"type", "go"}}, {}});
  Decoder decoder;
  std::vector<Message> messages;
  for (const char byte : bytes) {
    decoder.Feed({&byte, 1});
    while (auto message = decoder.Next()) messages.push_back(std::move(*message));
  }
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].header.at("type"), "job");
  EXPECT_EQ(messages[0].bodies, Sample().bodies);
  EXPECT_EQ(messages[0].header.at("text"), "grün \xEF\xBF\xBD\xEF\xBF\xBD");   // what is no UTF-8 is replaced
  EXPECT_EQ(messages[1].header.at("type"), "go");
}

TEST(Protocol, RefusesNonsense) {
  const auto refuses = [](std::string bytes) {
    Decoder decoder;
    decoder.Feed(bytes);
    EXPECT_THROW(decoder.Next(), ProtocolError);
  };
  refuses("Segmentation fault (core dumped)");
  std::string lie = Encode(Sample());
  std::memset(lie.data() + 8, 0xff, 8);   // bodies longer than anything
  refuses(lie);
  std::string broken = Encode({{{"type", "go"}}, {}});
  broken[16] = '[';
  refuses(broken);
  std::string sizes = Encode({nlohmann::json::object(), {"four"}});
  sizes.replace(sizes.find("[4]"), 3, "[9]");
  refuses(sizes);
  sizes.replace(sizes.find("[9]"), 3, "[3]");
  refuses(sizes);
}

TEST(Protocol, AnEvaluationComesBackAsItWas) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kNoisy;
  evaluation.stage = Stage::kTime;
  evaluation.message = "quoted \"text\"";
  CaseMeasurement measured;
  measured.name = "one";
  measured.median_ns = 0.1 + 0.2;
  measured.samples = {1, 4000000000u};
  evaluation.cases = {measured};
  evaluation.facts.registers = 77;
  const auto back = nlohmann::json::parse(nlohmann::json(evaluation).dump()).get<Evaluation>();
  EXPECT_EQ(back.outcome, Outcome::kNoisy);
  EXPECT_EQ(back.stage, Stage::kTime);
  EXPECT_EQ(back.message, evaluation.message);
  EXPECT_TRUE(std::isnan(back.score_ns));
  EXPECT_EQ(back.cases.at(0).median_ns, 0.1 + 0.2);
  EXPECT_EQ(back.cases.at(0).samples, measured.samples);
  EXPECT_TRUE(std::isnan(back.cases.at(0).wall_ns));
  EXPECT_EQ(back.facts.registers, 77);
}

TEST(Protocol, AProgramKeepsItsImage) {
  CompileResult result;
  result.outcome = Outcome::kOk;
  result.program = {std::string("\x7f" "ELF\0x", 6), "ptx", {{"k<1>", "_k1"}}};
  const CompileResult back = ToCompileResult(ToMessage(result));
  EXPECT_EQ(back.program.image, result.program.image);
  EXPECT_EQ(back.program.kernels.at(0).symbol, "_k1");
  Message without = ToMessage(result);
  without.bodies.clear();
  EXPECT_THROW(ToCompileResult(without), ProtocolError);
}

}  // namespace
}  // namespace evo
