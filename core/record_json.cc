#include "core/record_json.h"

#include <fmt/format.h>

namespace evo {
namespace {

template <typename Enumeration>
void Read(const nlohmann::json& in, std::optional<Enumeration> (*parse)(std::string_view), const char* what, Enumeration& value) {
  const auto text = in.get<std::string>();
  const std::optional<Enumeration> parsed = parse(text);
  if (!parsed) throw std::invalid_argument(fmt::format("unknown {} '{}'", what, text));
  value = *parsed;
}

}  // namespace

void to_json(nlohmann::json& out, Outcome outcome) { out = ToString(outcome); }
void from_json(const nlohmann::json& in, Outcome& outcome) { Read(in, &ParseOutcome, "outcome", outcome); }
void to_json(nlohmann::json& out, Stage stage) { out = ToString(stage); }
void from_json(const nlohmann::json& in, Stage& stage) { Read(in, &ParseStage, "stage", stage); }
void to_json(nlohmann::json& out, Bottleneck bottleneck) { out = ToString(bottleneck); }
void from_json(const nlohmann::json& in, Bottleneck& bottleneck) { Read(in, &ParseBottleneck, "bottleneck", bottleneck); }

}  // namespace evo
