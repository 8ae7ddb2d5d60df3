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

// Asks for one child. The child's random stream is Rng(seed, generation, index). Without operators the first parent itself is
// rendered, unchanged but for the edits that it gets.
struct BreedRequest {
  std::vector<Genome> parents;                            // one, or two if crossover is to be possible
  std::vector<std::string> sources;                       // of the parents, which are not rendered again then; empty: not known
  std::vector<std::pair<std::string, double>> operators;  // name and weight, in a fixed order
  std::uint64_t seed = 0;
  std::uint64_t generation = 0;
  std::uint64_t index = 0;
  // Edits of other genomes that the first parent gets before all else, one after another. Each is made anew by its operator, so
  // that it rests on the code that it changes; one that the operator does not propose there is left out.
  std::vector<Edit> alike = {};
};

// A rendered child, or the reason why there is none: no operator applied within the tries allowed.
struct BredChild {
  std::optional<Genome> genome;
  std::string op;  // operator that made it; empty if none
  bool used_second_parent = false;
  bool parentless = false;                // made from its template alone: the parents of the request have no part in it
  std::vector<std::string> inapplicable;  // operators drawn before that did not apply, in order
  std::vector<std::string> dropped;       // edits that could not be re-applied, one line each
  std::string source;                     // the rendered .cu; empty if none
  std::string failure;                    // one line; empty if there is a child
};

// Makes children from genomes; a pure function of the requests. If the breeder's process dies over a request, that is a failure
// of this request.
class Breeder {
 public:
  virtual ~Breeder() = default;
  // Blocks. Gives one result per request, in order. After a stop request it returns soon, with a failure for every request that
  // was not finished.
  virtual std::vector<BredChild> Breed(std::vector<BreedRequest> requests, std::stop_token stop) = 0;
};

// As JSON, for the messages to breed workers and back.
void to_json(nlohmann::json& out, const BreedRequest& request);
void from_json(const nlohmann::json& in, BreedRequest& request);
void to_json(nlohmann::json& out, const BredChild& child);
void from_json(const nlohmann::json& in, BredChild& child);

}  // namespace evo
