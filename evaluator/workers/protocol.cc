#include "evaluator/workers/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace evo {
namespace {

constexpr char kMagic[4] = {'E', 'V', 'O', '1'};
constexpr std::size_t kPreludeBytes = 16;

template <typename T>
void Put(std::string& out, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

template <typename T>
T Get(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// The depth of the arrays and objects in a JSON text. Brackets in strings do not count.
int Nesting(std::string_view json) {
  int depth = 0, deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

std::vector<std::string> SplitBodies(const nlohmann::json& header, std::string_view bytes) {
  std::vector<std::string> bodies;
  const auto sizes = header.find("bodies");
  if (sizes == header.end() || !sizes->is_array()) throw ProtocolError("header without the list of bodies");
  if (sizes->size() > kMostBodies) throw ProtocolError(fmt::format("a message of {} bodies", sizes->size()));
  for (const auto& size : *sizes) {
    if (!size.is_number_unsigned() || size.get<std::uint64_t>() > bytes.size())
      throw ProtocolError("a body is longer than the message");
    const auto length = size.get<std::size_t>();
    bodies.emplace_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  if (!bytes.empty()) throw ProtocolError(fmt::format("{} bytes belong to no body", bytes.size()));
  return bodies;
}

}  // namespace

std::string Encode(const Message& message) {
  nlohmann::json header = message.header;
  header["bodies"] = nlohmann::json::array();
  std::uint64_t body_bytes = 0;
  for (const std::string& body : message.bodies) {
    header["bodies"].push_back(body.size());
    body_bytes += body.size();
  }
  // Compiler logs may hold any bytes: those that are not UTF-8 are replaced; dump() would throw on them otherwise.
  const std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string out(kMagic, sizeof(kMagic));
  out.reserve(kPreludeBytes + text.size() + body_bytes);
  Put(out, static_cast<std::uint32_t>(text.size()));
  Put(out, body_bytes);
  out += text;
  for (const std::string& body : message.bodies) out += body;
  return out;
}

void Decoder::Feed(std::string_view bytes) { buffer_.append(bytes); }

std::optional<Message> Decoder::Next(const MessageLimits& limits) {
  const std::size_t magic_bytes = std::min(buffer_.size(), sizeof(kMagic));
  if (std::memcmp(buffer_.data(), kMagic, magic_bytes) != 0) throw ProtocolError("not a message of evo's protocol");
  if (buffer_.size() < kPreludeBytes) return std::nullopt;
  const auto header_bytes = Get<std::uint32_t>(buffer_.data() + 4);
  const auto body_bytes = Get<std::uint64_t>(buffer_.data() + 8);
  if (header_bytes > limits.header_bytes || body_bytes > limits.body_bytes) {
    throw ProtocolError(fmt::format("a message of {} + {} bytes", header_bytes, body_bytes));
  }
  if (buffer_.size() < kPreludeBytes + header_bytes + body_bytes) return std::nullopt;
  const std::string_view whole(buffer_);
  const std::string_view header = whole.substr(kPreludeBytes, header_bytes);
  if (Nesting(header) > kMostNesting) throw ProtocolError("the header is nested too deeply");
  Message message;
  message.header = nlohmann::json::parse(header, nullptr, false);
  if (!message.header.is_object()) throw ProtocolError("the header is not a JSON object");
  message.bodies = SplitBodies(message.header, whole.substr(kPreludeBytes + header_bytes, body_bytes));
  message.header.erase("bodies");
  buffer_.erase(0, kPreludeBytes + header_bytes + body_bytes);
  return message;
}

}  // namespace evo
