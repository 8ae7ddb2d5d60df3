#include "core/genome.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/digest.h"
#include "core/error.h"

namespace evo {

using nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Anchor, function, kind, tokens, ordinal, parent, before, after, path)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LaunchChange, kernel, field, text)

namespace {

constexpr const char* kPlacementNames[] = {"replace", "before", "after"};

}  // namespace

void to_json(json& out, const SourceChange& change) {
  out = {{"anchor", change.anchor}, {"placement", kPlacementNames[static_cast<int>(change.placement)]}, {"text", change.text}};
}

void from_json(const json& in, SourceChange& change) {
  in.at("anchor").get_to(change.anchor);
  in.at("text").get_to(change.text);
  const auto name = in.at("placement").get<std::string>();
  for (int i = 0; i < 3; ++i) {
    if (name == kPlacementNames[i]) {
      change.placement = static_cast<Placement>(i);
      return;
    }
  }
  throw Error(fmt::format("genome: placement '{}' is not replace, before or after", name));
}

void to_json(json& out, const Edit& edit) {
  out = {{"op", edit.op},
         {"anchors", edit.anchors},
         {"source", edit.source},
         {"launch", edit.launch},
         {"parameters", edit.parameters}};
}

void from_json(const json& in, Edit& edit) {
  in.at("op").get_to(edit.op);
  in.at("anchors").get_to(edit.anchors);
  in.at("source").get_to(edit.source);
  in.at("launch").get_to(edit.launch);
  in.at("parameters").get_to(edit.parameters);
  for (const SourceChange& change : edit.source) {
    if (change.anchor >= edit.anchors.size()) {
      throw Error(fmt::format("genome: edit '{}' names anchor {} of {}", edit.op, change.anchor, edit.anchors.size()));
    }
  }
}

void to_json(json& out, const Genome& genome) {
  out = {{"template", genome.template_name},
         {"template_digest", genome.template_digest},
         {"parameters", genome.parameters},
         {"edits", genome.edits}};
}

void from_json(const json& in, Genome& genome) {
  in.at("template").get_to(genome.template_name);
  in.at("template_digest").get_to(genome.template_digest);
  in.at("parameters").get_to(genome.parameters);
  in.at("edits").get_to(genome.edits);
}

std::string ToCanonicalJson(const Genome& genome) { return json(genome).dump(); }

Genome GenomeFromJson(std::string_view text) {
  try {
    return json::parse(text).get<Genome>();
  } catch (const json::exception& error) {
    throw Error(fmt::format("genome: {}", error.what()));
  }
}

std::string GenomeHash(const Genome& genome) { return Digest(ToCanonicalJson(genome)); }

}  // namespace evo
