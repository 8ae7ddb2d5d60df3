#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

// A message between coordinator and worker: a JSON header and binary bodies.
// On the wire: "EVO1", u32 size of the header, u64 size of all bodies (little endian), the header, the bodies. The header's key
// "bodies" lists the size of each. The first message to a worker is {"type":"init"}, answered by {"type":"ready"}, or by
// {"type":"failed","message":..}. Then each {"type":"job"} is answered by {"type":"begin","stage":..} markers and one
// {"type":"reply"}; "last":true in a reply says that the worker ends now. A marker with "wait":true is answered by {"type":"go"}.
struct Message {
  nlohmann::json header = nlohmann::json::object();
  std::vector<std::string> bodies;
};

// The other side broke the protocol: a wrong length, a header that is not JSON, an unknown magic.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string Encode(const Message& message);

// Cuts a byte stream, fed in pieces of any size, into messages.
class Decoder {
 public:
  void Feed(std::string_view bytes);
  // The next whole message, or nullopt if more bytes are needed. After a ProtocolError the decoder must not be used again.
  std::optional<Message> Next();

 private:
  std::string buffer_;
};

}  // namespace evo
