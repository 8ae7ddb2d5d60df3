#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

// What coordinator and worker say to each other: a JSON header and binary bodies.
// On the wire: "EVO1", u32 header bytes, u64 bytes of all bodies (little endian), the header, the bodies. The header's key
// "bodies" lists their sizes. The first message of a worker's life is {"type":"init"}, answered by {"type":"ready"}; then each
// {"type":"job"} is answered by {"type":"begin","stage":..} markers and one {"type":"reply"};
// "last" in it says that the worker ends now.
struct Message {
  nlohmann::json header = nlohmann::json::object();
  std::vector<std::string> bodies;
};

// The other side does not speak the protocol: a lie about a length, a header that is not JSON, an unknown magic.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string Encode(const Message& message);

// Cuts a byte stream into messages. Bytes may come in any pieces.
class Decoder {
 public:
  void Feed(std::string_view bytes);
  // The next whole message, or nullopt if more bytes are needed. Throws ProtocolError; the decoder is of no use afterwards.
  std::optional<Message> Next();

 private:
  std::string buffer_;
};

}  // namespace evo
