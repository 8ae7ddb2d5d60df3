#include "kernel_templates/text_file.h"

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <sstream>

#include "core/error.h"

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

std::string ReadSourceFile(const std::filesystem::path& file) {
  constexpr std::uintmax_t kLargest = 4 << 20;
  std::error_code failed;
  const std::filesystem::file_status status = std::filesystem::status(file, failed);
  if (!std::filesystem::exists(status)) throw UsageError(fmt::format("{}: there is no such file", file.string()));
  if (std::filesystem::is_directory(status))
    throw UsageError(fmt::format("{}: a folder; name the .cu file in it", file.string()));
  if (!std::filesystem::is_regular_file(status)) throw UsageError(fmt::format("{}: not a regular file", file.string()));
  const std::uintmax_t size = std::filesystem::file_size(file, failed);
  if (size > kLargest) {
    throw UsageError(fmt::format("{}: {} MiB; a source has at most {} MiB", file.string(), size >> 20, kLargest >> 20));
  }
  std::optional<std::string> text = ReadTextFile(file);
  if (!text) throw UsageError(fmt::format("{}: cannot be read", file.string()));
  if (text->find('\0') != std::string::npos)
    throw UsageError(fmt::format("{}: not a text, it has bytes of value 0", file.string()));
  if (text->find_first_not_of(" \t\r\n") == std::string::npos)
    throw UsageError(fmt::format("{}: the file is empty", file.string()));
  if (text->starts_with("\xef\xbb\xbf")) text->erase(0, 3);
  return *std::move(text);
}

}  // namespace evo
