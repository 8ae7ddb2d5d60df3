#include "evaluator/workers/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace evo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A message put together by hand, so that it can lie.
std::string Wire(const std::string& header, const std::string& bodies, std::uint32_t header_bytes, std::uint64_t body_bytes) {
  std::string wire = "EVO1";
  char number[8];
  std::memcpy(number, &header_bytes, 4);
  wire.append(number, 4);
  std::memcpy(number, &body_bytes, 8);
  wire.append(number, 8);
  return wire + header + bodies;
}

std::string Wire(const std::string& header, const std::string& bodies) {
  return Wire(header, bodies, static_cast<std::uint32_t>(header.size()), bodies.size());
}

std::optional<Message> Decoded(const std::string& wire) {
  Decoder decoder;
  decoder.Feed(wire);
  return decoder.Next();
}

Message Example() {
  Message message;
  message.header = {{"type", "job"}, {"number", 1.5}, {"nothing", nullptr}, {"nested", {{"list", {1, 2, 3}}}}};
  message.bodies = {std::string("a\0b\xff", 4), "", "EVO1 is no secret"};
  return message;
}

TEST(Protocol, RoundTrip) {
  const auto back = Decoded(Encode(Example()));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->header, Example().header);
  EXPECT_EQ(back->bodies, Example().bodies);
}

TEST(Protocol, AnEmptyMessageIsAMessage) {
  const auto back = Decoded(Encode({}));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->header, nlohmann::json::object());
  EXPECT_THAT(back->bodies, IsEmpty());
}

TEST(Protocol, LaysOutItsBytesAsDocumented) {
  Message message;
  message.bodies = {"xyz"};
  EXPECT_EQ(Encode(message), Wire(R"({"bodies":[3]})", "xyz"));
}

TEST(Protocol, TakesBytesOneByOne) {
  const std::string wire = Encode(Example()) + Encode({{{"second", true}}, {}});
  Decoder decoder;
  std::vector<Message> messages;
  for (const char byte : wire) {
    decoder.Feed({&byte, 1});
    while (auto message = decoder.Next()) messages.push_back(*message);
  }
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0].bodies, Example().bodies);
  EXPECT_EQ(messages[1].header, nlohmann::json({{"second", true}}));
}

TEST(Protocol, TakesSeveralMessagesAtOnce) {
  Decoder decoder;
  decoder.Feed(Encode({{{"n", 1}}, {}}) + Encode({{{"n", 2}}, {}}));
  EXPECT_EQ(decoder.Next()->header["n"], 1);
  EXPECT_EQ(decoder.Next()->header["n"], 2);
  EXPECT_FALSE(decoder.Next());
}

TEST(Protocol, EveryBeginningOfAMessageWaitsForMore) {
  const std::string wire = Encode(Example());
  for (std::size_t length = 0; length < wire.size(); ++length) EXPECT_FALSE(Decoded(wire.substr(0, length))) << length;
}

TEST(Protocol, WrongMagicIsSeenAtItsFirstByte) {
  EXPECT_THROW(Decoded("Segmentation fault"), ProtocolError);
  EXPECT_THROW(Decoded("X"), ProtocolError);
  EXPECT_THROW(Decoded("EVO2"), ProtocolError);
  Decoder decoder;
  decoder.Feed(Encode(Example()) + "printf");
  EXPECT_TRUE(decoder.Next());
  EXPECT_THROW(decoder.Next(), ProtocolError);
}

TEST(Protocol, LiesAboutLengths) {
  const std::string header = R"({"bodies":[3]})";
  const auto size = static_cast<std::uint32_t>(header.size());
  EXPECT_THROW(Decoded(Wire(header, "xyz", size - 1, 3)), ProtocolError) << "a header cut short is no JSON";
  EXPECT_THROW(Decoded(Wire(header, "xyz", 0xffffffffU, 3)), ProtocolError);
  EXPECT_THROW(Decoded(Wire(header, "xyz", size, ~0ULL)), ProtocolError);
  EXPECT_THROW(Decoded(Wire(header, "xyz", size, 1ULL << 31)), ProtocolError);
  EXPECT_FALSE(Decoded(Wire(header, "xyz", size, 4))) << "more may come";
}

TEST(Protocol, BodiesMustAddUp) {
  EXPECT_THROW(Decoded(Wire(R"({"bodies":[2]})", "xyz")), ProtocolError);
  EXPECT_THROW(Decoded(Wire(R"({"bodies":[4]})", "xyz")), ProtocolError);
  EXPECT_THROW(Decoded(Wire(R"({"bodies":[1,1,2]})", "xyz")), ProtocolError);
  EXPECT_THROW(Decoded(Wire(R"({"bodies":[18446744073709551615,4]})", "xyz")), ProtocolError);
  EXPECT_THROW(Decoded(Wire(R"({"bodies":[-1,4]})", "xyz")), ProtocolError);
  EXPECT_THROW(Decoded(Wire(R"({"bodies":["3"]})", "xyz")), ProtocolError);
  EXPECT_THROW(Decoded(Wire(R"({"bodies":3})", "xyz")), ProtocolError);
  EXPECT_THROW(Decoded(Wire(R"({})", "xyz")), ProtocolError);
  EXPECT_THROW(Decoded(Wire(R"({})", "")), ProtocolError);
  EXPECT_THAT(Decoded(Wire(R"({"bodies":[1,0,2]})", "xyz"))->bodies, ElementsAre("x", "", "yz"));
}

TEST(Protocol, TheHeaderMustBeAJsonObject) {
  for (const std::string header : {"", "{", "[]", "3", "null", "\"bodies\"", "{\"bodies\":[]} trailing", "\xff\xfe"}) {
    EXPECT_THROW(Decoded(Wire(header, "")), ProtocolError) << header;
  }
}

TEST(Protocol, BytesThatAreNoTextAreReplaced) {
  Message message;
  message.header = {{"log", "error: \xff\xfe in \xc3\xa9"}};
  const auto back = Decoded(Encode(message));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->header["log"], "error: \xef\xbf\xbd\xef\xbf\xbd in \xc3\xa9");
}

// A header as deep as this, with its own object.
std::string Nested(std::size_t levels) {
  return R"({"bodies":[],"a":)" + std::string(levels - 1, '[') + std::string(levels - 1, ']') + "}";
}

// What copies or prints a header calls itself for each level.
TEST(Protocol, AHeaderThatIsNestedTooDeeplyIsRefused) {
  EXPECT_NO_THROW(Decoded(Wire(Nested(kMostNesting), "")));
  EXPECT_THROW(Decoded(Wire(Nested(kMostNesting + 1), "")), ProtocolError);
  EXPECT_THROW(Decoded(Wire(Nested(200'000), "")), ProtocolError);
  EXPECT_THROW(Decoded(Wire(std::string(200'000, '{'), "")), ProtocolError);
}

TEST(Protocol, BracketsInTextAreNoNesting) {
  Message message;
  message.header = {{"source", std::string(1000, '[') + "\\\"{{{" + std::string(1000, '{') + "\\"}, {"next", {1}}};
  const auto back = Decoded(Encode(message));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->header, message.header);
}

TEST(Protocol, WhatIsOverALimitIsRefusedAtItsFirstBytes) {
  const auto refused = [](std::uint32_t header, std::uint64_t bodies, const MessageLimits& limits) {
    Decoder decoder;
    decoder.Feed(Wire("", "", header, bodies));
    try {
      decoder.Next(limits);
      return false;
    } catch (const ProtocolError&) {
      return true;
    }
  };
  EXPECT_TRUE(refused(100, 1, kGreetingLimits)) << "a worker that is not ready has nothing to send";
  EXPECT_TRUE(refused(2 << 20, 0, kGreetingLimits));
  EXPECT_FALSE(refused(2 << 20, 1 << 20, kReplyLimits));
  EXPECT_TRUE(refused(100, 1 << 30, kReplyLimits));
  EXPECT_FALSE(refused(100, 1 << 30, kRequestLimits)) << "the coordinator sends on what two workers sent";
}

TEST(Protocol, AMessageHasFewBodies) {
  Message message;
  message.bodies.assign(kMostBodies, "");
  EXPECT_TRUE(Decoded(Encode(message)));
  message.bodies.emplace_back();
  EXPECT_THROW(Decoded(Encode(message)), ProtocolError);
}

}  // namespace
}  // namespace evo
