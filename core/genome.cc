#include "core/genome.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
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

void to_json(json& out, const BroughtParameter& brought) {
  out = {{"name", brought.name}, {"values", brought.values}, {"initial", brought.initial}};
}

void from_json(const json& in, BroughtParameter& brought) {
  ReadMember(in, "name", brought.name);
  ReadMember(in, "values", brought.values);
  ReadMember(in, "initial", brought.initial);
  const auto& values = brought.values;
  if (std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) != values.end())
    throw Error(fmt::format("genome: the values of the parameter '{}' that an edit brings must ascend", brought.name));
  if (!std::binary_search(values.begin(), values.end(), brought.initial))
    throw Error(
        fmt::format("genome: {} is not a value of the parameter '{}' that an edit brings", brought.initial, brought.name));
}

void to_json(json& out, const Edit& edit) {
  out = {{"op", edit.op},
         {"anchors", edit.anchors},
         {"source", edit.source},
         {"launch", edit.launch},
         {"parameters", edit.parameters}};
  // Most edits bring none, and the JSON and the hash of a genome that earlier versions stored must not change.
  if (!edit.brings.empty()) out["brings"] = edit.brings;
  if (!edit.constraints.empty()) out["constraints"] = edit.constraints;
}

void from_json(const json& in, Edit& edit) {
  ReadMember(in, "op", edit.op);
  ReadMember(in, "anchors", edit.anchors);
  ReadMember(in, "source", edit.source);
  ReadMember(in, "launch", edit.launch);
  ReadMember(in, "parameters", edit.parameters);
  if (in.contains("brings")) ReadMember(in, "brings", edit.brings);
  if (in.contains("constraints")) ReadMember(in, "constraints", edit.constraints);
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

void RemoveBrought(Parameters& parameters, const std::vector<Edit>& removed, const std::vector<Edit>& kept) {
  const auto brings = [](const Edit& edit, const std::string& name) {
    return std::any_of(edit.brings.begin(), edit.brings.end(), [&](const BroughtParameter& one) { return one.name == name; });
  };
  for (const Edit& edit : removed) {
    for (const auto& [name, values, initial] : edit.brings) {
      if (std::none_of(kept.begin(), kept.end(), [&, n = name](const Edit& other) { return brings(other, n); }))
        parameters.erase(name);
    }
  }
}

Genome WithoutEdits(const Genome& genome, const std::vector<std::size_t>& places) {
  Genome less = genome;
  less.edits.clear();
  std::vector<Edit> removed;
  for (std::size_t i = 0; i < genome.edits.size(); ++i) {
    const bool goes = std::find(places.begin(), places.end(), i) != places.end();
    (goes ? removed : less.edits).push_back(genome.edits[i]);
  }
  RemoveBrought(less.parameters, removed, less.edits);
  return less;
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
