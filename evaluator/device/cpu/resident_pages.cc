#include "evaluator/device/cpu/resident_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace evo {

std::size_t PageBytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGE_SIZE));
  return bytes;
}

std::vector<char> PageOf(const DevicePattern& pattern) {
  std::vector<char> page(PageBytes());
  FillHere({reinterpret_cast<std::uintptr_t>(page.data()), page.size(), pattern});
  return page;
}

std::vector<char> TouchedPages(const char* begin, std::size_t bytes) {
  std::vector<unsigned char> resident((bytes + PageBytes() - 1) / PageBytes());
  const bool known = ::mincore(const_cast<char*>(begin), bytes, resident.data()) == 0;
  std::vector<char> touched;
  for (const unsigned char one : resident) touched.push_back(!known || (one & 1) != 0);
  return touched;
}

void FillTouchedPages(char* begin, std::size_t bytes, const std::vector<char>& page) {
  const std::vector<char> touched = TouchedPages(begin, bytes);
  for (std::size_t i = 0; i < touched.size(); ++i) {
    if (touched[i]) std::memcpy(begin + i * page.size(), page.data(), page.size());
  }
}

}  // namespace evo
