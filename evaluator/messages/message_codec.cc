#include "evaluator/messages/message_codec.h"

#include <fmt/format.h>

#include <optional>

#include "core/json_error.h"

namespace evo {
namespace {

// Decodes the alternative of `Requests` that the message's kind names.
template <typename Requests, std::size_t I = 0>
Requests Decode(const Message& message) {
  std::string kind;
  ReadMember(message.header, kKindKey, kind);
  if constexpr (I == std::variant_size_v<Requests>) {
    throw ProtocolError(fmt::format("unknown request '{}'", kind));
  } else {
    using Request = std::variant_alternative_t<I, Requests>;
    if (kind == Request::kKind) return FromMessage<Request>(message);
    return Decode<Requests, I + 1>(message);
  }
}

// One image and what belongs to it.
nlohmann::json Attached(Message& message, const CompiledProgram& program) {
  nlohmann::json image = {{"kernels", program.kernels},
                          {"variables", program.variables},
                          {"sections", program.sections},
                          {"sizes", program.sizes},
                          {"body", message.bodies.size()}};
  message.bodies.push_back(program.image);
  return image;
}

CompiledProgram Detached(const Message& message, const nlohmann::json& image) {
  CompiledProgram program;
  ReadMember(image, "kernels", program.kernels);
  ReadMember(image, "variables", program.variables);
  ReadMember(image, "sections", program.sections);
  ReadMember(image, "sizes", program.sizes);
  std::size_t body = 0;
  ReadMember(image, "body", body);
  if (body >= message.bodies.size()) throw ProtocolError("a program without its image");
  program.image = message.bodies[body];
  return program;
}

}  // namespace

void AttachProgram(Message& message, const std::string& key, const AttachedProgram& attached) {
  message.header[key] = Attached(message, attached.program);
  message.header[key]["source"] = attached.source;
  nlohmann::json& others = message.header[key]["others"] = nlohmann::json::array();
  for (const CompiledProgram& other : attached.program.others) others.push_back(Attached(message, other));
}

AttachedProgram DetachProgram(const Message& message, const std::string& key) {
  const nlohmann::json& in = Member(message.header, key.c_str());
  AttachedProgram attached;
  attached.program = Detached(message, in);
  ReadMember(in, "source", attached.source);
  const nlohmann::json& others = Member(in, "others");
  if (!others.is_array()) throw ProtocolError("a program without the list of its other images");
  for (const nlohmann::json& other : others) attached.program.others.push_back(Detached(message, other));
  return attached;
}

void AttachData(Message& message, const std::string& key, const AttachedData& attached) {
  nlohmann::json& in = message.header[key] = nlohmann::json::object();
  for (const auto& [name, bytes] : attached.cases) {
    in[name] = message.bodies.size();
    message.bodies.push_back(bytes);
  }
}

AttachedData DetachData(const Message& message, const std::string& key) {
  std::map<std::string, std::size_t> bodies;
  ReadMember(message.header, key.c_str(), bodies);
  AttachedData attached;
  for (const auto& [name, body] : bodies) {
    if (body >= message.bodies.size()) throw ProtocolError("recorded data without its bytes");
    attached.cases[name] = message.bodies[body];
  }
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
                    {"program_digest", result.program_digest},
                    {"machine_failed", result.machine_failed}};
  AttachProgram(message, "program", {"", result.program});
  AttachProgram(message, "checked", {"", result.checked});
  return message;
}

CompileResult ToCompileResult(const Message& message) {
  CompileResult result;
  ReadMember(message.header, "outcome", result.outcome);
  ReadMember(message.header, "message", result.message);
  ReadMember(message.header, "log", result.log);
  ReadMember(message.header, "facts", result.facts);
  ReadMember(message.header, "program_digest", result.program_digest);
  ReadMember(message.header, "machine_failed", result.machine_failed);
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
