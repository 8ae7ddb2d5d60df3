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
// {"type":"failed","message":..,"host":..}. Then each {"type":"job"} is answered by {"type":"begin","stage":..} markers and one
// {"type":"reply"}; "last":true in a reply says that the worker ends now. A job may come before the reply to the one before it,
// and is begun after that. A marker with "wait":true is answered by {"type":"go"};
// one with "run":.. says what runs next (evaluator/workers/announced_run.h).
// {"type":"end"} takes the place of a job and ends the worker. One that a tool watches ends with {"type":"log","text":..}, the
// tool's report (evaluator/workers/watched_worker.h).
// {"type":"killed","message":..} takes the place of "ready" or "reply" where a program that the worker needed was killed by
// something else.
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

// The most that is believed of a message.
struct MessageLimits {
  std::uint64_t header_bytes = 0;
  std::uint64_t body_bytes = 0;  // of all bodies together
};

// From the coordinator, which sends on what workers sent.
inline constexpr MessageLimits kRequestLimits{64ULL << 20, 1ULL << 30};
// From a worker that is ready: a source, a log, two images.
inline constexpr MessageLimits kReplyLimits{16ULL << 20, 64ULL << 20};
// From a worker that is not: what its device is.
inline constexpr MessageLimits kGreetingLimits{1ULL << 20, 0};
// Of arrays and objects in a header. What reads or copies a header may call itself for each level.
inline constexpr int kMostNesting = 64;
inline constexpr std::size_t kMostBodies = 64;

// Cuts a byte stream, fed in pieces of any size, into messages.
class Decoder {
 public:
  void Feed(std::string_view bytes);
  // The next whole message, or nullopt if more bytes are needed. After a ProtocolError the decoder must not be used again.
  // Throws ProtocolError for a message beyond the limits, as soon as its first bytes say so.
  std::optional<Message> Next(const MessageLimits& limits = kRequestLimits);

 private:
  std::string buffer_;
};

}  // namespace evo
