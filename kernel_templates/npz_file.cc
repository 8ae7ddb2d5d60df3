#include "kernel_templates/npz_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zip.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <memory>
#include <optional>
#include <regex>
#include <utility>

#include "core/error.h"

namespace evo {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostHeader = 1 << 16;
constexpr std::string_view kSuffix = ".npy";
constexpr std::string_view kDamaged = "is damaged; write it again with numpy.savez";

[[noreturn]] void Fail(const std::string& file, std::string_view what) { throw UsageError(fmt::format("{}: {}", file, what)); }

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};
using Archive = std::unique_ptr<zip_t, Discard>;
using Entry = std::unique_ptr<zip_file_t, Discard>;

Archive Open(std::string_view bytes, const std::string& file) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  zip_t* archive = source == nullptr ? nullptr : zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error);
  const std::string why = zip_error_strerror(&error);
  zip_error_fini(&error);
  if (archive != nullptr) return Archive(archive);
  if (source != nullptr) zip_source_free(source);
  Fail(file, fmt::format("is no .npz file, or {} ({})", kDamaged, why));
}

// The contents of entry `index`, which may have `most` bytes. Reads to its end, where libzip compares the check sum.
std::string Contents(zip_t* archive, zip_uint64_t index, std::uint64_t most, const std::string& file) {
  const Entry entry(zip_fopen_index(archive, index, 0));
  if (entry == nullptr) Fail(file, fmt::format("{} ({})", kDamaged, zip_strerror(archive)));
  std::string contents;
  std::array<char, 1 << 16> piece{};
  for (;;) {
    const zip_int64_t got = zip_fread(entry.get(), piece.data(), piece.size());
    if (got < 0) Fail(file, fmt::format("{} ({})", kDamaged, zip_file_strerror(entry.get())));
    if (got == 0) return contents;
    contents.append(piece.data(), static_cast<std::size_t>(got));
    if (contents.size() > most)
      Fail(file, fmt::format("has more than {} MiB of arrays; record a smaller case", kMostNpzBytes >> 20));
  }
}

std::optional<Dtype> DtypeOf(const std::string& type) {
  static constexpr std::array<std::pair<std::string_view, Dtype>, 12> kTypes{{{"f8", Dtype::kF64},
                                                                              {"f4", Dtype::kF32},
                                                                              {"f2", Dtype::kF16},
                                                                              {"i8", Dtype::kI64},
                                                                              {"i4", Dtype::kI32},
                                                                              {"i2", Dtype::kI16},
                                                                              {"i1", Dtype::kI8},
                                                                              {"u8", Dtype::kU64},
                                                                              {"u4", Dtype::kU32},
                                                                              {"u2", Dtype::kU16},
                                                                              {"u1", Dtype::kU8},
                                                                              {"b1", Dtype::kU8}}};
  for (const auto& [name, dtype] : kTypes) {
    if (type.size() == name.size() + 1 && type.ends_with(name)) return dtype;
  }
  return std::nullopt;
}

// The value of a key in the header of an array: a dictionary in Python's notation, with these three keys.
std::string Field(const std::string& header, const std::string& pattern) {
  std::smatch found;
  return std::regex_search(header, found, std::regex(pattern)) ? found[1].str() : "";
}

std::optional<std::vector<std::int64_t>> ParseShape(const std::string& text) {
  std::vector<std::int64_t> shape;
  static const std::regex number(R"(\s*(\d+)\s*(,|$))");
  auto at = text.cbegin();
  for (std::smatch found; std::regex_search(at, text.cend(), found, number, std::regex_constants::match_continuous);
       at = found[0].second) {
    const std::string digits = found[1].str();
    std::int64_t extent = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), extent).ec != std::errc()) return std::nullopt;
    shape.push_back(extent);
  }
  return text.find_first_not_of(' ', static_cast<std::size_t>(at - text.cbegin())) == std::string::npos ? std::optional(shape)
                                                                                                        : std::nullopt;
}

// The format of numpy.lib.format: a magic, a version, the length of the header in 2 bytes (from version 2 in 4), the header.
NpzArray ParseArray(std::string name, const std::string& contents, const std::string& file) {
  const std::string place = fmt::format("{}: array {}", file, name);
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(contents[i])); };
  constexpr std::size_t kVersion = 6;
  constexpr std::size_t kLength = 8;
  const std::size_t length_bytes = contents.size() > kVersion && contents[kVersion] == 1 ? 2 : 4;
  const std::size_t begin = kLength + length_bytes;
  if (contents.size() < begin || !contents.starts_with(kMagic)) Fail(place, kDamaged);
  std::size_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) length = length << 8 | byte(kLength + i);
  if (length > kMostHeader || contents.size() - begin < length) Fail(place, kDamaged);
  const std::string header = contents.substr(begin, length);

  NpzArray array;
  array.name = std::move(name);
  const std::string type = Field(header, R"('descr':\s*'([^']*)')");
  const std::string fortran = Field(header, R"('fortran_order':\s*(True|False))");
  const auto shape = ParseShape(Field(header, R"('shape':\s*\(([^)]*)\))"));
  if (header.find("'descr'") == std::string::npos || fortran.empty() || !shape) Fail(place, kDamaged);
  const auto dtype = DtypeOf(type);
  if (!dtype)
    Fail(place,
         fmt::format("has elements of type {}; real numbers, integers and bools can be read: convert it, bfloat16 to float32",
                     type.empty() ? "several parts" : type));
  if (type.front() == '>') Fail(place, fmt::format("is big endian ({}); save it with .astype('{}')", type, "<" + type.substr(1)));
  if (fortran == "True") Fail(place, "is in Fortran order; save numpy.ascontiguousarray of it");
  array.dtype = *dtype;
  array.shape = *shape;
  std::uint64_t wanted = ByteSize(array.dtype);
  for (const std::int64_t extent : array.shape) {
    if (__builtin_mul_overflow(wanted, static_cast<std::uint64_t>(extent), &wanted)) Fail(place, kDamaged);
  }
  if (contents.size() - begin - length != wanted) Fail(place, kDamaged);
  array.bytes = contents.substr(begin + length);
  return array;
}

}  // namespace

std::string ShapeText(const std::vector<std::int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::vector<NpzArray> ParseNpz(std::string_view bytes, const std::string& file) {
  const Archive archive = Open(bytes, file);
  std::vector<NpzArray> arrays;
  std::uint64_t left = kMostNpzBytes;
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* text = zip_get_name(archive.get(), static_cast<zip_uint64_t>(i), 0);
    const std::string name = text == nullptr ? "" : text;
    if (!name.ends_with(kSuffix)) Fail(file, fmt::format("holds {}, which is no array; write it with numpy.savez", name));
    const std::string contents = Contents(archive.get(), static_cast<zip_uint64_t>(i), left, file);
    left -= contents.size();
    arrays.push_back(ParseArray(name.substr(0, name.size() - kSuffix.size()), contents, file));
  }
  return arrays;
}

}  // namespace evo
