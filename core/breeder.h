#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/genome.h"
#include "core/rng.h"

namespace evo {

// Asks for one child. Its random stream is Rng(seed, generation, index). An empty `operators` asks for no change: the first
// parent itself, rendered.
struct BreedRequest {
  std::vector<Genome> parents;                            // one, or two when crossover is to be possible
  std::vector<std::string> sources;                       // theirs, rendered, where known: saves rendering them again; else empty
  std::vector<std::pair<std::string, double>> operators;  // name and weight, in a fixed order
  std::uint64_t seed = 0;
  std::uint64_t generation = 0;
  std::uint64_t index = 0;
};

// A child, rendered; or none, with the reason, when no operator applied within the tries allowed.
struct BredChild {
  std::optional<Genome> genome;
  std::string op;  // operator that made it; empty if none
  bool used_second_parent = false;
  bool parentless = false;                // made from its template alone: the parents asked for have no part in it
  std::vector<std::string> inapplicable;  // operators drawn before that did not apply, in order
  std::vector<std::string> dropped;       // edits that could not be re-applied, one line each
  std::string source;                     // the rendered .cu; empty if none
  std::string failure;                    // one line; empty if there is a child
};

// Makes children from genomes; a pure function of the requests. Start returns at once; Finish gives one result per request, in
// order. At most one batch is under way. A breeder whose process dies over a request reports it as a failure of that request.
class Breeder {
 public:
  virtual ~Breeder() = default;
  virtual void Start(std::vector<BreedRequest> requests) = 0;
  virtual std::vector<BredChild> Finish(std::stop_token stop) = 0;
};

// As they travel to breed workers and back.
void to_json(nlohmann::json& out, const BreedRequest& request);
void from_json(const nlohmann::json& in, BreedRequest& request);
void to_json(nlohmann::json& out, const BredChild& child);
void from_json(const nlohmann::json& in, BredChild& child);

}  // namespace evo
