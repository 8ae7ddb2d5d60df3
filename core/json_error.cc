#include "core/json_error.h"

#include <fmt/format.h>

#include <regex>
#include <utility>

namespace evo {
namespace {

using nlohmann::json;

constexpr std::size_t kMostOfMessage = 2000;  // the stack that std::regex needs grows with the text

std::string WithPlace(const std::string& path, const std::string& what) {
  return path.empty() ? what : fmt::format("{}: {}", path, what);
}

// The library's names of kinds, in the words of task.json's messages.
std::string Kind(const std::string& name) {
  if (name == "array") return "a list";
  if (name == "object") return "an object";
  return name == "null" ? name : "a " + name;
}

std::string WithoutPrefix(const std::exception& error) {
  const std::string text = std::string(error.what()).substr(0, kMostOfMessage);
  return std::regex_replace(text, std::regex(R"(^\[json\.exception\.[^\]]*\] )"), "");
}

std::string PlainParseError(const std::string& text) {
  std::smatch parts;
  if (!std::regex_match(text, parts, std::regex(R"(parse error(?: at (?:byte \d+|line \d+, column \d+))?: ([\s\S]*))")))
    return text;
  return std::regex_replace(parts[1].str(), std::regex(R"(^syntax error(?: while parsing [a-z ]+)? - )"), "");
}

std::string PlainJsonText(const json::exception& error) {
  const std::string text = WithoutPrefix(error);
  std::smatch parts;
  const auto is = [&](const char* pattern) { return std::regex_match(text, parts, std::regex(pattern)); };
  if (is(R"(type must be ([a-z]+), but is ([a-z]+))")) return fmt::format("must be {}, not {}", Kind(parts[1]), Kind(parts[2]));
  if (is(R"(cannot use .* with ([a-z]+))")) return fmt::format("must be an object or a list, not {}", Kind(parts[1]));
  if (is(R"(key '([\s\S]*)' not found)")) return fmt::format("'{}' is missing", parts[1].str());
  if (is(R"(array index (\d+) is out of range)")) return fmt::format("there is no element {}", parts[1].str());
  if (is(R"(invalid UTF-8 byte[\s\S]*)")) return "the text is not UTF-8";
  return text;
}

}  // namespace

JsonError::JsonError(std::string path, std::string what)
    : json::exception(0, WithPlace(path, what).c_str()), path_(std::move(path)), wrong_(std::move(what)) {}

JsonError JsonError::Below(const std::string& name) const {
  const char* between = path_.empty() || path_.front() == '[' ? "" : ".";
  return {name + between + path_, wrong_};
}

JsonError JsonError::Below(std::size_t index) const { return Below(fmt::format("[{}]", index)); }

std::string WithoutPlace(const json::parse_error& error) { return PlainParseError(WithoutPrefix(error)); }

std::string PlainText(const std::exception& error) {
  if (const auto* parse = dynamic_cast<const json::parse_error*>(&error)) {
    const std::string text = WithoutPrefix(error);
    std::smatch place;
    const bool has_place = std::regex_search(text, place, std::regex(R"(line \d+, column \d+)"));
    return fmt::format("not JSON: {}{}", has_place ? place[0].str() + ": " : "", WithoutPlace(*parse));
  }
  if (dynamic_cast<const JsonError*>(&error) != nullptr) return error.what();
  if (const auto* other = dynamic_cast<const json::exception*>(&error)) return PlainJsonText(*other);
  return error.what();
}

std::string KindOf(const json& value) { return Kind(value.type_name()); }

const json& Member(const json& object, const char* name) {
  if (!object.is_object()) throw JsonError("", fmt::format("must be an object, not {}", KindOf(object)));
  const auto found = object.find(name);
  if (found == object.end()) throw JsonError(name, "is missing");
  return *found;
}

}  // namespace evo
