#include "evaluator/messages/message_codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace evo {
namespace {

using nlohmann::json;

CaseMeasurement FullCase() {
  return {.name = "b1",
          .weight = 2.5,
          .median_ns = 1234.5,
          .p10_ns = 1200,
          .p90_ns = 1300,
          .busy_ns = 1100.25,
          .wall_ns = 2000,
          .tick_ns = 32,
          .samples = {1, 2, 0xffffffffU},
          .discarded = 3,
          .outliers = 2,
          .sm_low_mhz = 1755,
          .sm_high_mhz = 1980,
          .throttle_reason = "power cap",
          .launches = "scale grid 8x1x1 block 128x1x1 shared 0",
          .bytes = 1e9,
          .max_error = 0.1 + 0.2,
          .l2_error = 1e-300};
}

Evaluation FullEvaluation() {
  Evaluation e;
  e.outcome = Outcome::kOk;
  e.stage = Stage::kTime;
  e.message = "m";
  e.log = "l";
  e.score_ns = 1234.5;
  e.cases = {FullCase(), {}};
  e.facts = {32, 1024, 512, 4, 8, 0.75};
  e.clocks = {1, 2, 3, 4, 5, 6};
  e.reverification_runs = 7;
  e.device = "cuda";
  e.device_name = "NVIDIA H200";
  e.l2 = "cold";
  e.image_digest = "i";
  e.source_digest = "s";
  return e;
}

// The message after a trip through a pipe, as text.
template <typename T>
T Back(const T& value) {
  return json::parse(json(value).dump()).get<T>();
}

TEST(MessageCodec, AnEvaluationComesBack) {
  const Evaluation e = Back(FullEvaluation());
  EXPECT_EQ(json(e), json(FullEvaluation()));
  EXPECT_EQ(e.outcome, Outcome::kOk);
  EXPECT_EQ(e.stage, Stage::kTime);
  EXPECT_EQ(e.score_ns, 1234.5);
  EXPECT_EQ(e.cases.at(0).samples, FullCase().samples);
  EXPECT_EQ(e.cases.at(0).max_error, 0.1 + 0.2) << "bit for bit";
  EXPECT_EQ(e.cases.at(0).l2_error, 1e-300);
  EXPECT_EQ(e.facts.spill_bytes, 4);
  EXPECT_EQ(e.clocks.reverification_ms, 5);
  EXPECT_EQ(e.clocks.queue_ms, 6);
  EXPECT_EQ(e.reverification_runs, 7);
  EXPECT_EQ(e.l2, "cold");
  EXPECT_EQ(e.source_digest, "s");
}

TEST(MessageCodec, HowACaseWasLaunchedAndTheClocksComeBack) {
  const CaseMeasurement m = Back(FullCase());
  EXPECT_EQ(m.outliers, 2);
  EXPECT_EQ(m.sm_low_mhz, 1755);
  EXPECT_EQ(m.sm_high_mhz, 1980);
  EXPECT_EQ(m.throttle_reason, "power cap");
  EXPECT_EQ(m.launches, FullCase().launches);
  EXPECT_EQ(m.bytes, 1e9);
  EXPECT_TRUE(std::isnan(m.operations));
}

TEST(MessageCodec, AMachineComesBack) {
  const MachineState machine{"start", 1,     600,    3.98,     4e12,
                             6e12,    65e12, 950e12, 50 << 20, {1980, 1980, 3201, 41, 310.5, "thermal", true}};
  EXPECT_EQ(json(Back(machine)), json(machine));
  EXPECT_EQ(Back(machine).clocks.throttle_reason, "thermal");
  EXPECT_TRUE(Back(machine).clocks.disturbed);
  EXPECT_TRUE(std::isnan(Back(MachineState{}).tensor_per_s));
}

TEST(MessageCodec, WhatIsNoNumberComesBackAsNone) {
  const Evaluation e = Back(Evaluation{});
  EXPECT_EQ(e.outcome, Outcome::kCancelled);
  EXPECT_TRUE(std::isnan(e.score_ns));
  EXPECT_TRUE(std::isnan(e.facts.occupancy));
  const CaseMeasurement measured = Back(CaseMeasurement{});
  for (const double value : {measured.median_ns, measured.p10_ns, measured.p90_ns, measured.busy_ns, measured.wall_ns,
                             measured.max_error, measured.l2_error}) {
    EXPECT_TRUE(std::isnan(value));
  }
}

// An error relative to a reference of zeros is infinite. JSON cannot spell that, and a bad kernel must not end the worker.
TEST(MessageCodec, AnInfiniteErrorIsNotLostOnTheWay) {
  CaseMeasurement measured = FullCase();
  measured.max_error = std::numeric_limits<double>::infinity();
  CaseMeasurement back;
  ASSERT_NO_THROW(back = Back(measured));
  EXPECT_FALSE(std::isfinite(back.max_error));
}

TEST(MessageCodec, EveryOutcomeAndStageComesBack) {
  for (int i = 0; i <= static_cast<int>(Outcome::kCancelled); ++i) {
    Evaluation e;
    e.outcome = static_cast<Outcome>(i);
    EXPECT_EQ(Back(e).outcome, e.outcome);
  }
  for (int i = 0; i <= static_cast<int>(Stage::kHeldOut); ++i) {
    Evaluation e;
    e.stage = static_cast<Stage>(i);
    EXPECT_EQ(Back(e).stage, e.stage);
  }
}

TEST(MessageCodec, AChampionCheckComesBack) {
  ChampionCheck check;
  check.outcome = Outcome::kWrongResult;
  check.message = "held-out case ragged";
  check.candidate = {FullCase()};
  check.baseline = {FullCase(), FullCase()};
  check.candidate_ns = 10;
  check.speedup = 1.5;
  check.held_out_cases = {"a", "b"};
  check.slowest = {1.82, "case a, generator 3"};
  const ChampionCheck back = Back(check);
  EXPECT_EQ(json(back), json(check));
  EXPECT_EQ(back.slowest.ratio, 1.82);
  EXPECT_EQ(back.slowest.inputs, "case a, generator 3");
  EXPECT_EQ(back.outcome, Outcome::kWrongResult);
  EXPECT_EQ(back.baseline.size(), 2U);
  EXPECT_TRUE(std::isnan(back.baseline_ns));
  EXPECT_EQ(back.held_out_cases, check.held_out_cases);
}

std::string MessageOf(const std::function<void()>& read) {
  try {
    read();
  } catch (const std::exception& error) {
    return PlainText(error);
  }
  return "nothing was thrown";
}

TEST(MessageCodec, WhatIsMissingOrUnknownIsRefused) {
  const json full = FullEvaluation();
  for (const auto& [key, value] : full.items()) {
    json without = full;
    without.erase(key);
    EXPECT_THROW(without.get<Evaluation>(), json::exception) << key;
    EXPECT_EQ(MessageOf([&] { without.get<Evaluation>(); }), key + ": is missing");
  }
  json unknown = FullEvaluation();
  unknown["outcome"] = "wonderful";
  EXPECT_THROW(unknown.get<Evaluation>(), std::invalid_argument);
  unknown = FullEvaluation();
  unknown["stage"] = "lunch";
  EXPECT_THROW(unknown.get<Evaluation>(), std::invalid_argument);
  unknown = FullEvaluation();
  unknown["score_ns"] = "fast";
  EXPECT_THROW(unknown.get<Evaluation>(), json::exception);
}

TEST(MessageCodec, ABrokenReplyIsToldInPlainWords) {
  Message reply;
  reply.header["result"] = FullEvaluation();
  reply.header["result"]["cases"][0]["samples"] = "many";
  EXPECT_EQ(MessageOf([&] { FromReply<Evaluation>(reply); }), "result.cases[0].samples: must be a list, not a string");
  EXPECT_EQ(MessageOf([&] { FromReply<Evaluation>(Message{}); }), "result: is missing");
  EXPECT_EQ(MessageOf([&] { ToRunRequest(Message{}); }), "kind: is missing");
  Message compiled;
  compiled.header = {{"outcome", "ok"}, {"message", 1}};
  EXPECT_EQ(MessageOf([&] { ToCompileResult(compiled); }), "message: must be a string, not a number");
}

CompileResult Compiled() {
  CompileResult result;
  result.outcome = Outcome::kOk;
  result.log = "ptxas info";
  result.program = {std::string("\x7f"
                                "ELF\0\xff",
                                6),
                    "// ptx",
                    {{"k<1>", "_Z1k"}, {"m", "m"}},
                    {{".nv.global", 8, {{"state", 4, 4}}}}};
  result.program.variables = {{"filters::w", "_ZN7filters1wE"}};
  result.program_digest = "digest";
  result.facts.registers = 40;
  return result;
}

TEST(MessageCodec, ACompiledProgramComesBack) {
  const CompileResult back = ToCompileResult(ToMessage(Compiled()));
  EXPECT_EQ(back.outcome, Outcome::kOk);
  EXPECT_EQ(back.log, "ptxas info");
  EXPECT_EQ(back.facts.registers, 40);
  EXPECT_EQ(back.program.image, Compiled().program.image);
  EXPECT_EQ(back.program.ptx, "") << "it is never run";
  ASSERT_EQ(back.program.sections.size(), 1U);
  EXPECT_EQ(back.program.sections[0].name, ".nv.global");
  EXPECT_EQ(back.program.sections[0].bytes, 8U);
  ASSERT_EQ(back.program.sections[0].symbols.size(), 1U);
  EXPECT_EQ(back.program.sections[0].symbols[0].name, "state");
  EXPECT_EQ(back.program.sections[0].symbols[0].offset, 4U);
  EXPECT_EQ(back.program_digest, "digest");
  ASSERT_EQ(back.program.kernels.size(), 2U);
  EXPECT_EQ(back.program.kernels[0].expression, "k<1>");
  EXPECT_EQ(back.program.kernels[0].symbol, "_Z1k");
  ASSERT_EQ(back.program.variables.size(), 1U);
  EXPECT_EQ(back.program.variables[0].symbol, "_ZN7filters1wE");
}

TEST(MessageCodec, LaunchLimitsComeBack) {
  DeviceInfo device;
  device.kind = "cuda";
  device.max_threads_per_block = 512;
  const auto request = ToCompileWorkerRequest(ToMessage(LaunchLimitsRequest{"{}", "reference", "folder", device}));
  const auto& limits = std::get<LaunchLimitsRequest>(request);
  EXPECT_EQ(limits.task_reference, "reference");
  EXPECT_EQ(limits.device.kind, "cuda");
  EXPECT_EQ(limits.device.max_threads_per_block, 512);
}

TEST(MessageCodec, ARequestForAnotherWorkerIsRefused) {
  EXPECT_THROW(ToRunRequest(ToMessage(CompileRequest{})), ProtocolError);
  EXPECT_THROW(ToCompileWorkerRequest(ToMessage(MachineRequest{})), ProtocolError);
}

TEST(MessageCodec, SeveralProgramsShareAMessage) {
  Message message;
  AttachProgram(message, "candidate", {"one", {"image 1", "ptx 1", {}, {}}});
  AttachProgram(message, "baseline", {"two", {"image 2", "", {}, {}}});
  EXPECT_EQ(DetachProgram(message, "candidate").program.image, "image 1");
  EXPECT_EQ(DetachProgram(message, "baseline").program.image, "image 2");
  EXPECT_EQ(DetachProgram(message, "baseline").source, "two");
}

TEST(MessageCodec, AProgramWithoutItsBodiesIsRefused) {
  Message message = ToMessage(Compiled());
  message.bodies.pop_back();
  EXPECT_THROW(ToCompileResult(message), ProtocolError);
  message.header["program"]["body"] = ~std::size_t{0};
  EXPECT_THROW(ToCompileResult(message), ProtocolError);
}

}  // namespace
}  // namespace evo
