#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

// Values of the tunable `#define`s, by name.
using Parameters = std::map<std::string, std::int64_t>;

// Identifies a node of a syntax tree, so that it can be found again after other edits have changed the source. Digests are over
// *spelled* tokens (`BLOCK_M`, not 32). `path` only breaks ties; a node that is still ambiguous is not found.
struct Anchor {
  std::string function;   // the enclosing function's name; empty at file scope
  std::string kind;       // libclang's cursor kind spelling, such as "ForStmt"
  std::string tokens;     // digest of the node's own tokens
  int ordinal = 0;        // among nodes of the same function, kind and tokens, in source order
  std::string parent;     // digest of the parent's tokens
  std::string before;     // digest of the previous sibling's tokens; empty if first
  std::string after;      // digest of the next sibling's tokens; empty if last
  std::vector<int> path;  // child indices from the function's root
  bool operator==(const Anchor&) const = default;
};

enum class Placement { kReplace, kBefore, kAfter };

// Replaces the node that edit.anchors[anchor] identifies by `text`, or inserts `text` before or after it. kReplace with an empty
// text deletes the node.
struct SourceChange {
  std::size_t anchor = 0;
  Placement placement = Placement::kReplace;
  std::string text;
  bool operator==(const SourceChange&) const = default;
};

// Changes a field of the `evo:launch` line of a kernel: grid, block, shared, cluster, arguments, template, kernel, when, before,
// removed or unused.
struct LaunchChange {
  std::string kernel;
  std::string field;
  std::string text;
  bool operator==(const LaunchChange&) const = default;
};

// A tunable `#define` that an edit brings with it, and the values that a search may give it, ascending. `initial` is one of them.
struct BroughtParameter {
  std::string name;
  std::vector<std::int64_t> values;
  std::int64_t initial = 0;
  bool operator==(const BroughtParameter&) const = default;
};

// One source-level change. It is applied completely or dropped completely.
struct Edit {
  std::string op;  // name of the mutator that made it
  std::vector<Anchor> anchors;
  std::vector<SourceChange> source;
  std::vector<LaunchChange> launch;
  Parameters parameters;                 // parameter values without which the change is not valid
  std::vector<BroughtParameter> brings;  // parameters of the genome, beside its template's, as long as the edit is in it
  std::vector<std::string> constraints;  // expressions over the template's parameters and these; not 0: met
  bool operator==(const Edit&) const = default;
};

// A kernel variant. It is a value: to change it, copy it.
struct Genome {
  std::string template_name;    // file name without ".cu", unique within a task
  std::string template_digest;  // Digest() of the template's text
  Parameters parameters;        // one value for each parameter that the template declares or an edit brings
  std::vector<Edit> edits;      // applied in this order
  bool operator==(const Genome&) const = default;
};

// The genome without the edits at these places, and without the parameters that only they brought.
Genome WithoutEdits(const Genome& genome, const std::vector<std::size_t>& places);
// Removes the values of parameters that these edits bring and none of `kept` does.
void RemoveBrought(Parameters& parameters, const std::vector<Edit>& removed, const std::vector<Edit>& kept);

// Canonical JSON: sorted keys, no white space. The same genome always gives the same bytes.
std::string ToCanonicalJson(const Genome& genome);
// Throws an Error that names the field that is missing or has the wrong type.
Genome GenomeFromJson(std::string_view text);
// Digest() of the canonical JSON.
std::string GenomeHash(const Genome& genome);

void to_json(nlohmann::json& json, const Edit& edit);
void from_json(const nlohmann::json& json, Edit& edit);
void to_json(nlohmann::json& json, const Genome& genome);
void from_json(const nlohmann::json& json, Genome& genome);

}  // namespace evo
