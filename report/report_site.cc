#include "report/report_site.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "core/error.h"
#include "report/page_document.h"

namespace evo {
namespace {

constexpr const char* kJsonType = "application/json; charset=utf-8";
constexpr std::size_t kKeptReports = 2;  // each may have megabytes

Answer Text(int status, const std::string& text) {
  return {status, "text/plain; charset=utf-8", std::make_shared<const std::string>(text + "\n"), ""};
}

// The positive number of a parameter in a query; nullopt if it is absent or anything else.
std::optional<std::int64_t> NumberIn(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    if (!pair.starts_with(name) || pair.size() <= name.size() || pair[name.size()] != '=') continue;
    const std::string_view digits = pair.substr(name.size() + 1);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc() && end == digits.data() + digits.size() && value > 0) return value;
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

ReportSite::ReportSite(std::string page, std::string database, ReportOptions options, ReportTools tools)
    : page_(std::make_shared<const std::string>(ServedDocument(page))),
      database_(std::move(database)),
      options_(std::move(options)),
      tools_(std::move(tools)) {}

Answer ReportSite::Get(std::string_view target, std::string_view known) {
  const std::string_view path = target.substr(0, target.find('?'));
  const std::string_view query = path.size() < target.size() ? target.substr(path.size() + 1) : std::string_view();
  try {
    if (path == "/") return {200, "text/html; charset=utf-8", page_, ""};
    const std::optional<RunId> run = NumberIn(query, "run");
    if (path == "/data") return Data(run ? run : options_.run, known);
    if (path == "/candidate") {
      const auto id = NumberIn(query, "id");
      if (!run || !id) return Text(400, "name a run and a candidate: /candidate?run=1&id=42");
      const std::lock_guard lock(mutex_);
      const nlohmann::json one = CandidateData(database_, *run, *id, tools_);
      return {200, kJsonType,
              std::make_shared<const std::string>(one.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)), ""};
    }
  } catch (const UsageError& error) {
    return Text(404, error.what());
  } catch (const Error& error) {
    return Text(503, error.what());
  }
  return Text(404, "there is no such page");
}

Answer ReportSite::Data(std::optional<RunId> run, std::string_view known) {
  const std::lock_guard lock(mutex_);
  const std::string version = ReportVersion(database_, run);
  const std::string etag = fmt::format("\"{}\"", version);
  if (!version.empty() && known == etag) return {304, kJsonType, nullptr, etag};
  Made& made = made_[run.value_or(0)];
  if (made.version != version || version.empty()) {
    ReportOptions options = options_;
    options.run = run;
    made.text = nullptr;  // of two reports in memory, one is enough
    const nlohmann::json data = ReportData(database_, options, tools_);
    made.text = std::make_shared<const std::string>(data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    // If the run went on while the report was made, the page sees that with its next question.
    made.version = version;
  }
  const Answer answer{200, kJsonType, made.text, etag};
  for (auto one = made_.begin(); made_.size() > kKeptReports && one != made_.end();)
    one = one->first == run.value_or(0) ? std::next(one) : made_.erase(one);
  return answer;
}

}  // namespace evo
