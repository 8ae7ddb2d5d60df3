#include "evaluator/device/cpu/module_data.h"

#include <dlfcn.h>
#include <link.h>

#include <utility>

namespace evo {
namespace {

struct Search {
  const link_map* module;
  std::vector<ModuleSegment> segments;
};

void AddVariable(std::vector<ModuleSegment>& segments, std::uintptr_t begin, std::uintptr_t end, std::uintptr_t fixed_end) {
  if (fixed_end > begin && fixed_end < end) {
    segments.push_back({begin, fixed_end - begin, false});
    begin = fixed_end;
  }
  segments.push_back({begin, end - begin, fixed_end < end});
}

int Visit(dl_phdr_info* info, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (info->dlpi_addr != search.module->l_addr) return 0;
  // Data that is read-only after relocation lies at the begin of its segment, up to the end of a page.
  std::uintptr_t fixed_end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type == PT_GNU_RELRO) fixed_end = info->dlpi_addr + header.p_vaddr + header.p_memsz;
  }
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    if (header.p_flags & PF_W)
      AddVariable(search.segments, begin, begin + header.p_memsz, fixed_end);
    else
      search.segments.push_back({begin, header.p_memsz, false});
  }
  return 1;
}

}  // namespace

std::vector<ModuleSegment> SegmentsOf(void* library) {
  link_map* module = nullptr;
  if (::dlinfo(library, RTLD_DI_LINKMAP, &module) != 0 || module == nullptr) return {};
  Search search{module, {}};
  ::dl_iterate_phdr(&Visit, &search);
  return std::move(search.segments);
}

}  // namespace evo
