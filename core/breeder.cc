#include "core/breeder.h"

#include <nlohmann/json.hpp>

namespace evo {

using nlohmann::json;

void to_json(json& out, const BreedRequest& request) {
  out = {{"parents", request.parents}, {"sources", request.sources},       {"operators", request.operators},
         {"seed", request.seed},       {"generation", request.generation}, {"index", request.index}};
}

void from_json(const json& in, BreedRequest& request) {
  in.at("parents").get_to(request.parents);
  in.at("sources").get_to(request.sources);
  in.at("operators").get_to(request.operators);
  in.at("seed").get_to(request.seed);
  in.at("generation").get_to(request.generation);
  in.at("index").get_to(request.index);
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
  if (const json& genome = in.at("genome"); !genome.is_null()) child.genome = genome.get<Genome>();
  in.at("op").get_to(child.op);
  in.at("used_second_parent").get_to(child.used_second_parent);
  in.at("parentless").get_to(child.parentless);
  in.at("inapplicable").get_to(child.inapplicable);
  in.at("dropped").get_to(child.dropped);
  in.at("source").get_to(child.source);
  in.at("failure").get_to(child.failure);
}

}  // namespace evo
