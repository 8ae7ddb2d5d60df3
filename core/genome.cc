#include "core/genome.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/digest.h"
#include "core/error.h"
#include "core/json_error.h"

namespace evo {

using nlohmann::json;

void to_json(json& out, const Anchor& anchor) {
  out = {{"function", anchor.function}, {"kind", anchor.kind},     {"tokens", anchor.tokens}, {"ordinal", anchor.ordinal},
         {"parent", anchor.parent},     {"before", anchor.before}, {"after", anchor.after},   {"path", anchor.path}};
}

void from_json(const json& in, Anchor& anchor) {
  ReadMember(in, "function", anchor.function);
  ReadMember(in, "kind", anchor.kind);
  ReadMember(in, "tokens", anchor.tokens);
  ReadMember(in, "ordinal", anchor.ordinal);
  ReadMember(in, "parent", anchor.parent);
  ReadMember(in, "before", anchor.before);
  ReadMember(in, "after", anchor.after);
  ReadMember(in, "path", anchor.path);
}

void to_json(json& out, const LaunchChange& change) {
  out = {{"kernel", change.kernel}, {"field", change.field}, {"text", change.text}};
}

void from_json(const json& in, LaunchChange& change) {
  ReadMember(in, "kernel", change.kernel);
  ReadMember(in, "field", change.field);
  ReadMember(in, "text", change.text);
}

namespace {

constexpr const char* kPlacementNames[] = {"replace", "before", "after"};

}  // namespace

void to_json(json& out, const SourceChange& change) {
  out = {{"anchor", change.anchor}, {"placement", kPlacementNames[static_cast<int>(change.placement)]}, {"text", change.text}};
}

void from_json(const json& in, SourceChange& change) {
  ReadMember(in, "anchor", change.anchor);
  ReadMember(in, "text", change.text);
  std::string name;
  ReadMember(in, "placement", name);
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
  ReadMember(in, "op", edit.op);
  ReadMember(in, "anchors", edit.anchors);
  ReadMember(in, "source", edit.source);
  ReadMember(in, "launch", edit.launch);
  ReadMember(in, "parameters", edit.parameters);
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
  ReadMember(in, "template", genome.template_name);
  ReadMember(in, "template_digest", genome.template_digest);
  ReadMember(in, "parameters", genome.parameters);
  ReadMember(in, "edits", genome.edits);
}

std::string ToCanonicalJson(const Genome& genome) { return json(genome).dump(); }

Genome GenomeFromJson(std::string_view text) {
  try {
    Genome genome;
    ReadJson(json::parse(text), genome);
    return genome;
  } catch (const json::exception& error) {
    throw Error(fmt::format("genome: {}", PlainText(error)));
  }
}

std::string GenomeHash(const Genome& genome) { return Digest(ToCanonicalJson(genome)); }

}  // namespace evo
