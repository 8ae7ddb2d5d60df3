#include "report/page_document.h"

#include "core/error.h"

namespace evo {
namespace {

// The places of report/page/index.html that are filled in.
constexpr std::string_view kDataPlace = "EVO_REPORT_DATA";
constexpr std::string_view kConnectPlace = "EVO_REPORT_CONNECT";

std::string Filled(std::string_view page, std::string_view place, std::string_view text) {
  const std::size_t at = page.find(place);
  if (at == std::string_view::npos || page.find(place, at + place.size()) != std::string_view::npos)
    throw Error("the page of the report is not that of this evo; build the target report_page again");
  std::string filled;
  filled.reserve(page.size() + text.size());
  filled.append(page.substr(0, at)).append(text).append(page.substr(at + place.size()));
  return filled;
}

}  // namespace

std::string EmbeddedJson(const nlohmann::json& data) {
  const std::string text = data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string embedded;
  embedded.reserve(text.size() + text.size() / 64);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    // U+2028 and U+2029 end a line of script.
    const bool separator =
        c == '\xe2' && i + 2 < text.size() && text[i + 1] == '\x80' && (text[i + 2] == '\xa8' || text[i + 2] == '\xa9');
    if (c == '<') {
      embedded += "\\u003c";
    } else if (c == '>') {
      embedded += "\\u003e";
    } else if (c == '&') {
      embedded += "\\u0026";
    } else if (separator) {
      embedded += text[i + 2] == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      embedded += c;
    }
  }
  return embedded;
}

std::string ReportDocument(std::string_view page, const nlohmann::json& data) {
  // The data come last: a text of the database may spell the name of the other place.
  return Filled(Filled(page, kConnectPlace, "'none'"), kDataPlace, EmbeddedJson(data));
}

std::string ServedDocument(std::string_view page) { return Filled(Filled(page, kConnectPlace, "'self'"), kDataPlace, "null"); }

}  // namespace evo
