#include "kernel_templates/text_file.h"

#include <fstream>
#include <sstream>

namespace evo {

std::optional<std::string> ReadTextFile(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  // A folder can be opened but not read, and an empty file ends at once.
  if (!in || in.peek() == std::ifstream::traits_type::eof()) {
    std::error_code failure;
    const bool empty =
        std::filesystem::is_regular_file(file, failure) && std::filesystem::file_size(file, failure) == 0 && !in.bad();
    return empty && !failure ? std::optional<std::string>("") : std::nullopt;
  }
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad()) return std::nullopt;
  return std::move(text).str();
}

}  // namespace evo
