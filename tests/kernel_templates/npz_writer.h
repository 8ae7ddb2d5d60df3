#pragma once

#include <fmt/format.h>
#include <minizip/zip.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace evo {

// The entry of an array: its header as NumPy writes it, and its elements. `type`: "<f4"; `shape`: "(3, 4)".
template <typename T>
std::string NpyText(const std::string& type, const std::string& shape, const std::vector<T>& values,
                    const std::string& fortran = "False") {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", type, fortran, shape);
  header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  const auto length = static_cast<std::uint16_t>(header.size());
  std::string text =
      std::string("\x93NUMPY\x01") + '\0' + static_cast<char>(length & 0xff) + static_cast<char>(length >> 8) + header;
  text.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return text;
}

// Writes these entries as numpy.savez_compressed does; their names get ".npy".
inline void WriteNpz(const std::filesystem::path& file, const std::vector<std::pair<std::string, std::string>>& arrays) {
  const zipFile archive = zipOpen64(file.c_str(), APPEND_STATUS_CREATE);
  if (archive == nullptr) throw std::runtime_error("cannot write " + file.string());
  bool written = true;
  for (const auto& [name, text] : arrays) {
    written = written &&
              zipOpenNewFileInZip64(archive, (name + ".npy").c_str(), nullptr, nullptr, 0, nullptr, 0, nullptr, Z_DEFLATED,
                                    Z_DEFAULT_COMPRESSION, 1) == ZIP_OK &&
              zipWriteInFileInZip(archive, text.data(), static_cast<unsigned>(text.size())) == ZIP_OK &&
              zipCloseFileInZip(archive) == ZIP_OK;
  }
  if (zipClose(archive, nullptr) != ZIP_OK || !written) throw std::runtime_error("cannot write " + file.string());
}

}  // namespace evo
