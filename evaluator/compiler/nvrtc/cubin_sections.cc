#include "evaluator/compiler/nvrtc/cubin_sections.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "evaluator/compiler/rules/elf_file.h"

namespace evo {
namespace {

enum class Lifetime { kNone, kLasts, kUnknown };

Lifetime LifetimeOf(const Elf64_Shdr& section, std::string_view name) {
  if (section.sh_size == 0 || (section.sh_flags & SHF_ALLOC) == 0) return Lifetime::kNone;
  // Bank 3 has the `__constant__` variables; the other banks have parameters and what the assembler puts there.
  if (name == ".nv.global" || name == ".nv.global.init" || name == ".nv.constant3") return Lifetime::kLasts;
  if ((section.sh_flags & SHF_WRITE) == 0) return Lifetime::kNone;
  // Shared memory, which is scrubbed before each launch that is checked.
  return name.starts_with(".nv.shared.") ? Lifetime::kNone : Lifetime::kUnknown;
}

CubinObjection Unwatched(const std::string& section) {
  return {
      fmt::format("memory of the image ({}) cannot be watched for state that one launch leaves to the next; declare "
                  "variables as __device__ or __constant__, outside of functions",
                  section)};
}

}  // namespace

std::variant<std::vector<ImageSection>, CubinObjection> LastingSections(std::string_view cubin,
                                                                        const std::vector<std::string>& declared) {
  const ElfFile elf(cubin, "ptxas wrote a cubin that cannot be read; install the CUDA toolkit again");
  std::map<std::size_t, ImageSection> sections;
  for (std::size_t i = 0; i < elf.sections().size(); ++i) {
    const Elf64_Shdr& section = elf.sections()[i];
    const std::string name = elf.Name(section);
    const Lifetime lifetime = LifetimeOf(section, name);
    if (lifetime == Lifetime::kUnknown) return Unwatched(name);
    if (lifetime == Lifetime::kLasts) sections[i] = {name, section.sh_size, {}};
  }
  std::optional<CubinObjection> objection;
  std::set<std::string> seen;
  elf.ForEachSymbol(SHT_SYMTAB, [&](const Elf64_Sym& symbol, const std::string& name) {
    const auto section = sections.find(symbol.st_shndx);
    if (section == sections.end() || ELF64_ST_TYPE(symbol.st_info) == STT_SECTION || objection) return;
    // The assembler renames what inline PTX declares within a function, so that no name in the PTX leads to it.
    if (std::find(declared.begin(), declared.end(), name) == declared.end() || !seen.insert(name).second)
      objection = CubinObjection{fmt::format("{} is a variable that the source declares within a function or twice", name)};
    section->second.symbols.push_back({name, symbol.st_value, symbol.st_size});
  });
  if (objection) return *objection;
  std::vector<ImageSection> lasting;
  for (auto& [index, section] : sections) {
    auto& symbols = section.symbols;
    std::sort(symbols.begin(), symbols.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
    if (symbols.empty()) return Unwatched(section.name);
    lasting.push_back(std::move(section));
  }
  return lasting;
}

}  // namespace evo
