#include "evaluator/reference/python_reference.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>

#include "core/error.h"
#include "evaluator/gate/input_generator.h"
#include "platform/installation.h"

namespace evo {
namespace {

using std::chrono::milliseconds;

// The interpreter ends a call at its deadline, and itself a while later. This is for one that does neither.
constexpr milliseconds kGrace{10'000};
constexpr std::uint64_t kMostHeader = 1 << 20;
// Times that the median is taken of.
constexpr std::size_t kMostTimes = 101;
constexpr std::size_t kMostWords = 300;

std::string Interpreter() {
  const char* asked = std::getenv("EVO_PYTHON");
  return asked != nullptr && *asked != '\0' ? asked : "python3";
}

// One process may use half of the memory, like a worker.
std::uint64_t HalfOfMemory() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGE_SIZE)) / 2;
}

std::string_view RoleName(Role role) {
  switch (role) {
    case Role::kIn:
      return "in";
    case Role::kOut:
      return "out";
    case Role::kInOut:
      return "inout";
    default:
      return "scalar";
  }
}

nlohmann::json ValueOf(const Number& value) { return value.is_real ? nlohmann::json(value.real) : nlohmann::json(value.integer); }

// The sizes, scalars and shapes of a case.
nlohmann::json Describe(const Task& task, const Case& sizes) {
  nlohmann::json values = nlohmann::json::object();
  const Variables variables = CaseVariables(task, sizes);
  for (const auto& [name, value] : variables) values[name] = ValueOf(value);
  nlohmann::json shapes = nlohmann::json::object();
  for (const Argument& argument : task.arguments) {
    if (argument.role == Role::kScalar) continue;
    auto& shape = shapes[argument.name] = nlohmann::json::array();
    for (const Expression& dimension : argument.shape) shape.push_back(dimension.EvaluateInteger(variables));
  }
  return {{"case", sizes.name}, {"values", values}, {"shapes", shapes}};
}

// What a dying interpreter said, on one line. Its faulthandler tells the innermost calls first, and ends with the names of all
// compiled modules; the user's file may have printed before.
std::string Shortened(std::string words) {
  std::size_t begin = words.size() - std::min(words.size(), kMostWords);
  for (const char* fault : {"Fatal Python error", "Timeout ("}) {
    if (const std::size_t at = words.rfind(fault); at != std::string::npos) begin = at;
  }
  words = words.substr(begin, kMostWords);
  for (char& c : words) c = c == '\n' || c == '\t' ? ' ' : c;
  return words;
}

}  // namespace

nlohmann::json PythonInit(const Task& task, const PythonDeadlines& deadlines) {
  nlohmann::json arguments = nlohmann::json::array();
  for (const Argument& one : task.arguments)
    arguments.push_back(
        {{"name", one.name}, {"role", RoleName(one.role)}, {"dtype", ToString(one.dtype)}, {"derived", one.derived}});
  return {{"file", (task.directory / task.reference_file).string()},
          {"source", task.reference},
          {"arguments", arguments},
          {"sizes", task.size_names},
          {"start_ms", deadlines.start.count()},
          {"answer_ms", deadlines.answer.count()}};
}

PythonReference::PythonReference(const nlohmann::json& init)
    : file_(init.at("file").get<std::string>()),
      interpreter_(Interpreter()),
      answer_(init.at("answer_ms").get<int>()),
      process_(interpreter_, {"-B", (ShareDirectory() / "reference" / "evo_reference.py").string()},
               fmt::format("{} needs a Python interpreter: install python3, or set EVO_PYTHON to one", file_)) {
  Message start;
  start.header = init;
  if (!init.contains("memory_bytes")) start.header["memory_bytes"] = HalfOfMemory();
  const Message ready = Ask(start, milliseconds(init.at("start_ms").get<int>()), 0);
  if (const auto error = ready.header.find("error"); error != ready.header.end()) throw Error(error->get<std::string>());
}

Message PythonReference::Ask(const Message& request, milliseconds most, std::uint64_t most_bytes) {
  const auto deadline = std::chrono::steady_clock::now() + most + kGrace;
  const auto fail = [&](const std::string& what) -> Error {
    ended_ = true;
    const std::string words = Shortened(process_.LastWords());
    return Error(fmt::format("{}: its interpreter {} {}{}{}", file_, interpreter_, what, words.empty() ? "" : ": ", words));
  };
  auto talk = ended_ ? PipedProcess::Talk::kEnded : process_.Write(Encode(request), deadline);
  while (talk == PipedProcess::Talk::kDone) {
    try {
      if (auto message = decoder_.Next({kMostHeader, most_bytes})) return *std::move(message);
    } catch (const ProtocolError& error) {
      throw fail(fmt::format("does not speak evo's protocol ({})", error.what()));
    }
    std::string bytes;
    talk = process_.Read(bytes, deadline);
    decoder_.Feed(bytes);
  }
  if (talk == PipedProcess::Talk::kLate) throw fail(fmt::format("did not answer within {} s", (most + kGrace).count() / 1000));
  throw fail(fmt::format("has ended ({})", process_.HowItEnded()));
}

std::optional<Failure> PythonReference::Compute(Device& device, const Task& task, const Case& sizes,
                                                const std::vector<Place>& places) {
  Message request;
  request.header = Describe(task, sizes);
  std::size_t bytes = 0;
  std::uint64_t answer_bytes = 0;
  for (const Place& place : places) {
    answer_bytes += place.answer.bytes;
    if (!place.argument->IsInput()) continue;
    std::string& body = request.bodies.emplace_back(place.contents.bytes, '\0');
    bytes += body.size();
    if (DeviceStatus status = device.memory().Read(std::as_writable_bytes(std::span(body)), place.contents.address); !status.ok())
      return ToFailure(status);
  }
  auto answered = Answer(request, answer_bytes);
  if (auto* failure = std::get_if<Failure>(&answered)) return *failure;
  const Message& reply = std::get<Message>(answered);
  auto body = reply.bodies.begin();
  for (const Place& place : places) {
    if (!place.argument->IsOutput()) continue;
    if (body == reply.bodies.end() || body->size() != place.answer.bytes)
      return Failure{Outcome::kCrash, fmt::format("{}: an answer of another size came for {}", file_, place.argument->name),
                     true};
    if (DeviceStatus status = device.memory().Write(place.answer.address, std::as_bytes(std::span(*body))); !status.ok())
      return ToFailure(status);
    ++body;
  }
  Note(bytes, reply.header.value("ms", 0.0));
  return std::nullopt;
}

std::variant<Message, Failure> PythonReference::Answer(const Message& request, std::uint64_t most_bytes) {
  Message reply;
  try {
    reply = Ask(request, answer_, most_bytes);
  } catch (const Error& error) {
    return Failure{Outcome::kCrash, error.what(), true};
  }
  if (const auto error = reply.header.find("error"); error != reply.header.end())
    return Failure{Outcome::kUnsupported, error->get<std::string>(), false, true};
  return reply;
}

std::optional<Failure> PythonReference::Derive(const Task& task, const Case& sizes,
                                               std::vector<std::vector<std::byte>>& contents) {
  const Variables variables = CaseVariables(task, sizes);
  Message request;
  request.header = Describe(task, sizes);
  request.header["derive"] = true;
  std::uint64_t answer_bytes = 0;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const Argument& argument = task.arguments[i];
    if (!argument.derived.empty())
      answer_bytes += static_cast<std::uint64_t>(ElementCount(argument, variables)) * sizeof(double);
    else if (argument.IsInput())
      request.bodies.emplace_back(reinterpret_cast<const char*>(contents[i].data()), contents[i].size());
  }
  auto answered = Answer(request, answer_bytes);
  if (auto* failure = std::get_if<Failure>(&answered)) return *failure;
  const Message& reply = std::get<Message>(answered);
  auto body = reply.bodies.begin();
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const Argument& argument = task.arguments[i];
    if (argument.derived.empty()) continue;
    std::vector<double> values(static_cast<std::size_t>(ElementCount(argument, variables)));
    if (body == reply.bodies.end() || body->size() != values.size() * sizeof(double))
      return Failure{Outcome::kCrash, fmt::format("{}: values of another size came for {}", file_, argument.name), true};
    std::memcpy(values.data(), body->data(), body->size());
    ++body;
    try {
      contents[i] = FromDoubles(values, argument.dtype);
    } catch (const Error& error) {
      return Failure{Outcome::kUnsupported,
                     fmt::format("{}: {}, for {}: {}", file_, argument.derived, argument.name, error.what()), false, true};
    }
  }
  return std::nullopt;
}

void PythonReference::Note(std::size_t bytes, double ms) {
  if (bytes > least_bytes_) return;
  if (bytes < least_bytes_) times_.clear();
  least_bytes_ = bytes;
  if (times_.size() == kMostTimes) times_.erase(times_.begin());
  times_.push_back(ms);
}

double PythonReference::Milliseconds() const {
  if (times_.empty()) return 0;
  std::vector<double> times = times_;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace evo
