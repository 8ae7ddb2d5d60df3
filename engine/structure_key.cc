#include "engine/structure_key.h"

#include <set>

namespace evo {

std::string StructureKey(const std::string& template_digest, std::span<const Edit> edits, const OperatorSelection& selection) {
  std::set<std::string> restructured;
  for (const Edit& edit : edits) {
    if (selection.Restructures(edit.op)) restructured.insert(edit.op);
  }
  std::string structure = template_digest;
  for (const std::string& op : restructured) structure += "+" + op;
  return structure;
}

}  // namespace evo
