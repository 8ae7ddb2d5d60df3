#include "db/record_rows.h"

#include <charconv>
#include <limits>

#include "core/error.h"

namespace evo {
namespace {

bool IsNull(const Column& column, std::int64_t value) {
  return column.absent || value < 0 || (value == 0 && column.encoding == Encoding::kNullIfZero);
}

template <typename Enumeration>
void ReadSpelling(const SQLite::Column& stored, const Column& column, std::optional<Enumeration> (*parse)(std::string_view),
                  Enumeration& value) {
  if (stored.isNull()) return;
  const std::string text = stored.getString();
  const std::optional<Enumeration> parsed = parse(text);
  if (!parsed) {
    throw Error(fmt::format("its {} is '{}', which this evo does not know", column.name, text));
  }
  value = *parsed;
}

Error OutOfRange(const Column& column, std::string_view text) {
  return Error(fmt::format("its {} is {}, which is out of range", column.name, text));
}

}  // namespace

std::string EncodeSamples(const std::vector<std::uint32_t>& samples) {
  std::string blob;
  blob.reserve(samples.size() * 4);
  for (const std::uint32_t sample : samples) {
    for (int shift = 0; shift < 32; shift += 8) blob += static_cast<char>((sample >> shift) & 0xffU);
  }
  return blob;
}

std::vector<std::uint32_t> DecodeSamples(std::string_view blob) {
  std::vector<std::uint32_t> samples(blob.size() / 4);
  for (std::size_t i = 0; i < samples.size() * 4; ++i) {
    samples[i / 4] |= static_cast<std::uint32_t>(static_cast<unsigned char>(blob[i])) << (8 * (i % 4));
  }
  return samples;
}

double RealOrNan(const SQLite::Column& column) { return column.isNull() ? kNoValue : column.getDouble(); }

void BindValue(SQLite::Statement& statement, int position, const Column& column, bool value) {
  BindValue(statement, position, column, std::int64_t{value ? 1 : 0});
}

void BindValue(SQLite::Statement& statement, int position, const Column& column, std::int64_t value) {
  if (IsNull(column, value)) {
    statement.bind(position);
  } else {
    statement.bind(position, value);
  }
}

void BindValue(SQLite::Statement& statement, int position, const Column& column, std::uint64_t value) {
  if (column.encoding == Encoding::kDecimalText) {
    BindValue(statement, position, column, std::to_string(value));
  } else {
    BindValue(statement, position, column, static_cast<std::int64_t>(value));
  }
}

void BindValue(SQLite::Statement& statement, int position, const Column& column, double value) {
  if (column.absent) {
    statement.bind(position);
  } else {
    statement.bind(position, value);  // SQLite stores NaN as NULL
  }
}

void BindValue(SQLite::Statement& statement, int position, const Column& column, const std::string& value) {
  if (column.absent) {
    statement.bind(position);
  } else {
    statement.bind(position, value);
  }
}

void BindValue(SQLite::Statement& statement, int position, const Column&, const std::vector<std::uint32_t>& value) {
  const std::string blob = EncodeSamples(value);
  statement.bind(position, blob.data(), static_cast<int>(blob.size()));
}

void ReadValue(const SQLite::Column& stored, const Column&, bool& value) {
  if (!stored.isNull()) value = stored.getInt() != 0;
}

void ReadValue(const SQLite::Column& stored, const Column& column, int& value) {
  if (stored.isNull()) return;
  const std::int64_t number = stored.getInt64();
  if (number < std::numeric_limits<int>::min() || number > std::numeric_limits<int>::max())
    throw OutOfRange(column, std::to_string(number));
  value = static_cast<int>(number);
}

void ReadValue(const SQLite::Column& stored, const Column&, std::int64_t& value) {
  if (!stored.isNull()) value = stored.getInt64();
}

void ReadValue(const SQLite::Column& stored, const Column& column, std::uint64_t& value) {
  if (stored.isNull()) return;
  if (column.encoding != Encoding::kDecimalText) {
    value = static_cast<std::uint64_t>(stored.getInt64());
    return;
  }
  const std::string text = stored.getString();
  const char* const end = text.data() + text.size();
  const auto [last, failed] = std::from_chars(text.data(), end, value);
  if (failed != std::errc() || last != end) throw OutOfRange(column, fmt::format("'{}'", text));
}

void ReadValue(const SQLite::Column& stored, const Column&, double& value) { value = RealOrNan(stored); }

void ReadValue(const SQLite::Column& stored, const Column&, std::string& value) {
  if (!stored.isNull()) value = stored.getString();
}

void ReadValue(const SQLite::Column& stored, const Column&, std::vector<std::uint32_t>& value) {
  const int bytes = stored.getBytes();
  if (bytes > 0) value = DecodeSamples({static_cast<const char*>(stored.getBlob()), static_cast<std::size_t>(bytes)});
}

void ReadValue(const SQLite::Column& stored, const Column& column, Outcome& value) {
  ReadSpelling(stored, column, &ParseOutcome, value);
}

void ReadValue(const SQLite::Column& stored, const Column& column, Stage& value) {
  ReadSpelling(stored, column, &ParseStage, value);
}

void ReadValue(const SQLite::Column& stored, const Column& column, Bottleneck& value) {
  ReadSpelling(stored, column, &ParseBottleneck, value);
}

}  // namespace evo
