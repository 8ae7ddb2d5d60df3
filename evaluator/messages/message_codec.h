#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <variant>

#include "core/json_error.h"
#include "core/record_json.h"
#include "evaluator/compiler/compiler.h"
#include "evaluator/device/device.h"
#include "evaluator/messages/requests.h"
#include "evaluator/workers/protocol.h"

namespace evo {

// Requests and replies as protocol messages: fields go into the JSON header by their names, images into binary bodies. Decoding
// throws JsonError for a field that is missing or of the wrong type, std::invalid_argument for an unknown
// spelling, ProtocolError for an unknown kind or a missing image.

// A program at `header[key]`, with its image as one more body. The PTX is not sent.
void AttachProgram(Message& message, const std::string& key, const AttachedProgram& attached);
AttachedProgram DetachProgram(const Message& message, const std::string& key);

// The data of cases at `header[key]`, each as one more body.
void AttachData(Message& message, const std::string& key, const AttachedData& attached);
AttachedData DetachData(const Message& message, const std::string& key);

// The key of the header that names a request's type.
inline constexpr const char* kKindKey = "kind";

template <DescribedRecord Record>
Message ToMessage(const Record& record) {
  Message message;
  ForEachField(record, [&](const char* name, const auto& field) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, AttachedProgram>)
      AttachProgram(message, name, field);
    else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, AttachedData>)
      AttachData(message, name, field);
    else
      message.header[name] = field;
  });
  if constexpr (requires { Record::kKind; }) message.header[kKindKey] = Record::kKind;
  return message;
}

template <DescribedRecord Record>
Record FromMessage(const Message& message) {
  Record record;
  ForEachField(record, [&](const char* name, auto& field) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, AttachedProgram>)
      field = DetachProgram(message, name);
    else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, AttachedData>)
      field = DetachData(message, name);
    else
      ReadMember(message.header, name, field);
  });
  return record;
}

CompileWorkerRequest ToCompileWorkerRequest(const Message& message);
RunRequest ToRunRequest(const Message& message);

Message ToMessage(const CompileResult& result);
CompileResult ToCompileResult(const Message& message);

// A run worker's reply: the record that the request is answered by, or an InfrastructureReport. Decoding throws as above.
template <DescribedRecord Record>
Message ToReply(const Record& record) {
  Message message;
  message.header["result"] = record;
  return message;
}
Message ToReply(const InfrastructureReport& report);
template <DescribedRecord Record>
std::variant<Record, InfrastructureReport> FromReply(const Message& message) {
  const auto failure = message.header.find("infrastructure");
  if (failure != message.header.end()) return failure->get<InfrastructureReport>();
  Record record;
  ReadMember(message.header, "result", record);
  return record;
}

}  // namespace evo
