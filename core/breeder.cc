#include "core/breeder.h"

#include <nlohmann/json.hpp>

#include "core/json_error.h"

namespace evo {

using nlohmann::json;

void to_json(json& out, const BreedRequest& request) {
  out = {{"parents", request.parents}, {"sources", request.sources},       {"operators", request.operators},
         {"seed", request.seed},       {"generation", request.generation}, {"index", request.index}};
  if (!request.alike.empty()) out["alike"] = request.alike;
}

void from_json(const json& in, BreedRequest& request) {
  ReadMember(in, "parents", request.parents);
  ReadMember(in, "sources", request.sources);
  ReadMember(in, "operators", request.operators);
  ReadMember(in, "seed", request.seed);
  ReadMember(in, "generation", request.generation);
  ReadMember(in, "index", request.index);
  if (in.contains("alike")) ReadMember(in, "alike", request.alike);
}

void to_json(json& out, const BredChild& child) {
  out = {{"genome", child.genome ? json(*child.genome) : json()},
         {"op", child.op},
         {"used_second_parent", child.used_second_parent},
         {"parentless", child.parentless},
         {"inapplicable", child.inapplicable},
         {"dropped", child.dropped},
         {"source", child.source},
         {"failure", child.failure}};
}

void from_json(const json& in, BredChild& child) {
  if (!Member(in, "genome").is_null()) ReadMember(in, "genome", child.genome.emplace());
  ReadMember(in, "op", child.op);
  ReadMember(in, "used_second_parent", child.used_second_parent);
  ReadMember(in, "parentless", child.parentless);
  ReadMember(in, "inapplicable", child.inapplicable);
  ReadMember(in, "dropped", child.dropped);
  ReadMember(in, "source", child.source);
  ReadMember(in, "failure", child.failure);
}

}  // namespace evo
