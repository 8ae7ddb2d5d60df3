#include "evaluator/messages/message_codec.h"

#include <fmt/format.h>

#include <optional>

namespace evo {
namespace {

// Decodes the alternative of `Requests` that the message's kind names.
template <typename Requests, std::size_t I = 0>
Requests Decode(const Message& message) {
  const auto kind = message.header.at(kKindKey).get<std::string>();
  if constexpr (I == std::variant_size_v<Requests>) {
    throw ProtocolError(fmt::format("unknown request '{}'", kind));
  } else {
    using Request = std::variant_alternative_t<I, Requests>;
    if (kind == Request::kKind) return FromMessage<Request>(message);
    return Decode<Requests, I + 1>(message);
  }
}

}  // namespace

void AttachProgram(Message& message, const std::string& key, const AttachedProgram& attached) {
  const CompiledProgram& program = attached.program;
  message.header[key] = {
      {"source", attached.source}, {"kernels", program.kernels}, {"sections", program.sections}, {"body", message.bodies.size()}};
  message.bodies.push_back(program.image);
}

AttachedProgram DetachProgram(const Message& message, const std::string& key) {
  const nlohmann::json& in = message.header.at(key);
  AttachedProgram attached;
  in.at("source").get_to(attached.source);
  in.at("kernels").get_to(attached.program.kernels);
  in.at("sections").get_to(attached.program.sections);
  const auto body = in.at("body").get<std::size_t>();
  if (body >= message.bodies.size()) throw ProtocolError("a program without its image");
  attached.program.image = message.bodies[body];
  return attached;
}

CompileWorkerRequest ToCompileWorkerRequest(const Message& message) { return Decode<CompileWorkerRequest>(message); }

RunRequest ToRunRequest(const Message& message) { return Decode<RunRequest>(message); }

Message ToMessage(const CompileResult& result) {
  Message message;
  message.header = {{"outcome", result.outcome},
                    {"message", result.message},
                    {"log", result.log},
                    {"facts", result.facts},
                    {"program_digest", result.program_digest}};
  AttachProgram(message, "program", {"", result.program});
  AttachProgram(message, "checked", {"", result.checked});
  return message;
}

CompileResult ToCompileResult(const Message& message) {
  CompileResult result;
  message.header.at("outcome").get_to(result.outcome);
  message.header.at("message").get_to(result.message);
  message.header.at("log").get_to(result.log);
  message.header.at("facts").get_to(result.facts);
  message.header.at("program_digest").get_to(result.program_digest);
  result.program = DetachProgram(message, "program").program;
  result.checked = DetachProgram(message, "checked").program;
  return result;
}

Message ToReply(const InfrastructureReport& report) {
  Message message;
  message.header["infrastructure"] = report;
  return message;
}

}  // namespace evo
