// What a user reads of JSON that is broken.
#include "core/json_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/breeder.h"
#include "core/error.h"
#include "core/genome.h"
#include "core/record_json.h"

namespace evo {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string MessageOf(const std::function<void()>& read) {
  try {
    read();
  } catch (const std::exception& error) {
    return PlainText(error);
  }
  return "nothing was thrown";
}

TEST(PlainText, SaysWhereATextIsNoJson) {
  EXPECT_EQ(MessageOf([] { return json::parse("{\n \"a\": ]}"); }),
            "not JSON: line 2, column 7: unexpected ']'; expected '[', '{', or a literal");
  EXPECT_THAT(MessageOf([] { return json::parse(""); }), StartsWith("not JSON: line 1, column 1: unexpected end of input"));
  EXPECT_THAT(MessageOf([] { return json::parse("\"\x01"); }), StartsWith("not JSON: line 1, column 2: invalid string: "));
}

TEST(PlainText, SaysWhatTheLibraryMeans) {
  const json object = {{"a", 1}};
  EXPECT_EQ(MessageOf([&] { object.at("b"); }), "'b' is missing");
  EXPECT_EQ(MessageOf([&] { object.at("a").get<std::string>(); }), "must be a string, not a number");
  EXPECT_EQ(MessageOf([&] { object.at("a").at("b"); }), "must be an object or a list, not a number");
  EXPECT_EQ(MessageOf([&] { object.at("a").value("b", 1); }), "must be an object or a list, not a number");
  EXPECT_EQ(MessageOf([&] { json::array().at(3); }), "there is no element 3");
  EXPECT_EQ(MessageOf([&] { json("\xff").dump(); }), "the text is not UTF-8");
  EXPECT_EQ(MessageOf([&] { throw Error("another"); }), "another");
  EXPECT_EQ(MessageOf([&] { object.at(std::string(100'000, 'x')); }).size(),
            2000 - std::string("[json.exception.out_of_range.403] ").size())
      << "no text is too long";
}

// Calls `look` for each place in the document, with the document changed at that place.
void ForEachFault(const json& whole, const std::function<void(const json& broken, const std::string& place)>& look) {
  const json flat = whole.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    const json::json_pointer place(pointer);
    for (const json& wrong : {json(json::object()), json(-1), json("x"), json(json::array({json::array()})), json()}) {
      if (wrong.type() == value.type()) continue;
      json broken = whole;
      broken[place] = wrong;
      look(broken, pointer);
    }
    if (place.back().empty() || std::isdigit(static_cast<unsigned char>(place.back().front())) != 0) continue;
    json broken = whole;
    broken[place.parent_pointer()].erase(place.back());
    look(broken, pointer);
  }
}

Genome FullGenome() {
  Genome genome{.template_name = "t", .template_digest = "d", .parameters = {{"A", 1}}, .edits = {}};
  Edit edit;
  edit.op = "op";
  edit.anchors = {Anchor{
      .function = "f", .kind = "ForStmt", .tokens = "1", .ordinal = 0, .parent = "2", .before = "", .after = "", .path = {1, 2}}};
  edit.source = {SourceChange{}};
  edit.launch = {LaunchChange{.kernel = "k", .field = "grid", .text = "1"}};
  genome.edits = {edit};
  return genome;
}

TEST(ReadJson, TakesOnlyWholeNumbersThatFit) {
  const auto read = [](const char* text) -> std::string {
    std::int64_t value = 0;
    try {
      ReadJson(nlohmann::json::parse(text), value);
    } catch (const JsonError& error) {
      return error.what();
    }
    return std::to_string(value);
  };
  EXPECT_EQ(read("-7"), "-7");
  EXPECT_EQ(read("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(read("9223372036854775808"), "9223372036854775808 is out of range");
  EXPECT_EQ(read("3.5"), "must be a whole number in range, not 3.5");
  EXPECT_EQ(read("4e62"), "must be a whole number in range, not 4e+62");
  EXPECT_EQ(read("true"), "must be a whole number, not a boolean");
  std::vector<std::uint8_t> bytes;
  EXPECT_THROW(ReadJson(nlohmann::json::parse("[1, 256]"), bytes), JsonError);
  std::map<std::string, std::int64_t> parameters;
  try {
    ReadJson(nlohmann::json::parse(R"({"BLOCK": 477777777777777777777777777777})"), parameters);
    ADD_FAILURE();
  } catch (const JsonError& error) {
    EXPECT_STREQ(error.what(), "BLOCK: must be a whole number in range, not 4.7777777777777775e+29");
  }
}

TEST(Genome, ThatIsBrokenSaysWhere) {
  const json whole = json::parse(ToCanonicalJson(FullGenome()));
  json broken = whole;
  broken["edits"][0]["anchors"][0]["kind"] = 3;
  EXPECT_EQ(MessageOf([&] { GenomeFromJson(broken.dump()); }),
            "genome: edits[0].anchors[0].kind: must be a string, not a number");
  broken = whole;
  broken["edits"][0].erase("op");
  EXPECT_EQ(MessageOf([&] { GenomeFromJson(broken.dump()); }), "genome: edits[0].op: is missing");
  EXPECT_EQ(MessageOf([&] { GenomeFromJson("[]"); }), "genome: must be an object, not a list");
  EXPECT_THAT(MessageOf([&] { GenomeFromJson("{"); }), StartsWith("genome: not JSON: line 1, column 2: "));
  int faults = 0;
  ForEachFault(whole, [&](const json& wrong, const std::string& place) {
    const std::string message = MessageOf([&] { GenomeFromJson(wrong.dump()); });
    if (message != "nothing was thrown") ++faults;
    EXPECT_THAT(message, Not(HasSubstr("json.exception"))) << place;
  });
  EXPECT_GT(faults, 60);
}

TEST(BredChild, ThatIsBrokenSaysWhere) {
  BredChild child;
  child.genome = FullGenome();
  json broken = child;
  broken["genome"]["edits"][0]["op"] = 1;
  EXPECT_EQ(MessageOf([&] { broken.get<BredChild>(); }), "genome.edits[0].op: must be a string, not a number");
}

}  // namespace
}  // namespace evo
