#include "tests/fuzz/targets.h"

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>

#include "core/error.h"
#include "core/expression.h"
#include "core/genome.h"
#include "db/record_rows.h"
#include "engine/landscape.h"
#include "evaluator/compiler/host/host_compiler.h"
#include "evaluator/compiler/host/host_source.h"
#include "evaluator/compiler/host/prelude_cache.h"
#include "evaluator/compiler/nvrtc/compiler_log.h"
#include "evaluator/compiler/nvrtc/cubin_sections.h"
#include "evaluator/compiler/nvrtc/ptx_checks.h"
#include "evaluator/compiler/rules/source_rules.h"
#include "evaluator/gate/input_change.h"
#include "evaluator/gate/input_program.h"
#include "evaluator/messages/message_codec.h"
#include "evaluator/workers/protocol.h"
#include "kernel_templates/generator.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/launch_line.h"
#include "kernel_templates/npz_file.h"
#include "kernel_templates/task.h"
#include "kernel_templates/task_shape.h"
#include "kernel_templates/tensor_map.h"

namespace evo {
namespace {

// Calls a parser, which may refuse the input by the exceptions that it documents.
template <typename Parse>
bool Accepts(Parse parse) {
  try {
    parse();
    return true;
  } catch (const Error&) {
  } catch (const nlohmann::json::exception&) {
  } catch (const ProtocolError&) {
  } catch (const std::invalid_argument&) {
  }
  return false;
}

void Require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

void DecodeMessage(const Message& message) {
  Accepts([&] { ToCompileWorkerRequest(message); });
  Accepts([&] { ToRunRequest(message); });
  Accepts([&] { ToCompileResult(message); });
  Accepts([&] { FromReply<Evaluation>(message); });
  Accepts([&] { FromReply<ChampionCheck>(message); });
}

// The first byte says into pieces of which size the stream is cut.
void Frames(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::size_t piece = static_cast<unsigned char>(bytes.front()) + 1U;
  Decoder decoder;
  Accepts([&] {
    for (bytes.remove_prefix(1); !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
      decoder.Feed(bytes.substr(0, piece));
      while (const auto message = decoder.Next()) DecodeMessage(*message);
    }
  });
}

void Messages(std::string_view bytes) {
  Message message;
  message.header = nlohmann::json::parse(bytes, nullptr, false);
  if (message.header.is_discarded()) return;
  message.bodies = {"image", "another image"};
  DecodeMessage(message);
}

void Genomes(std::string_view bytes) {
  Genome genome;
  if (!Accepts([&] { genome = GenomeFromJson(bytes); })) return;
  Require(GenomeFromJson(ToCanonicalJson(genome)) == genome, "a genome does not read back as it was written");
}

constexpr char kReference[] = R"(// evo:launch axpy(X, Y, a, N) grid(ceil_div(N, 64)) block(64)
__global__ void axpy(const float* X, double* Y, float a, int n) {}
)";

constexpr char kTask[] = R"json({
  "name": "axpy", "summary": "Y = a X + Y", "notes": "", "sizes": ["N"],
  "arguments": [
    {"name": "X", "role": "in", "dtype": "f32", "shape": ["N"], "generators": ["normal", "uniform(-1,1)"]
},
    {"name": "Y", "role": "inout", "dtype": "f32", "shape": ["N"], "generators": ["normal"], "check": {"l2": 1e-6, "max": 1e-5}},
    {"name": "a", "role": "scalar", "dtype": "f32", "value": 1.5}
  ],
  "determinism": "bitwise",
  "cases": {
    "small": {"name": "small", "sizes": {"N": 100}},
    "search": [{"name": "n1000", "sizes": {"N": 1000}, "weight": 1}],
    "search_cpu": [{"name": "n500", "sizes": {"N": 500}}],
    "held_out": [{"name": "n777", "sizes": {"N": 777}}],
    "held_out_cpu": [{"name": "n77", "sizes": {"N": 77}}]
  },
  "baseline": "simple", "bytes": "3 * N * 4", "operations": "2 * N"
})json";

void Tasks(std::string_view bytes) {
  Accepts([&] {
    const Task task = ParseTask(std::string(bytes), kReference, "fuzz");
    SizesText(task, task.small);
  });
}

void Templates(std::string_view bytes) {
  Accepts([&] { ParseTemplate("fuzz.cu", std::string(bytes)); });
}

void Launches(std::string_view bytes) {
  Accepts([&] { ParseLaunchLine(bytes); });
  Accepts([&] { ParseClauses(bytes, 0); });
  Accepts([&] { ParseTensorMap(bytes); });
}

void Expressions(std::string_view bytes) {
  Accepts([&] {
    const Expression expression = Expression::Parse(bytes);
    Variables variables;
    for (const std::string& name : expression.Names())
      variables[name] = name.size() % 2 ? Number::Integer(static_cast<std::int64_t>(name.size())) : Number::Real(0.5);
    expression.Evaluate(variables);
  });
}

// The programs that search inputs are stored in the history as text.
void Inputs(std::string_view bytes) {
  static const Task task = ParseTask(kTask, kReference, "fuzz");
  const std::string text(bytes);
  Accepts([&] { ParseGenerator(text); });
  Accepts([&] { ParseInputChange(bytes); });
  InputProgram program;
  if (!Accepts([&] { program = ParseInputProgram(text, 1, task); })) return;
  Require(ToText(ParseInputProgram(ToText(program), 1, task)) == ToText(program), "an input program does not read back");
  Accepts([&] { DrawArguments(task, task.small, program); });
  Describe(program, task, task.small);
}

void Landscapes(std::string_view bytes) {
  Accepts([&] {
    std::istringstream text{std::string(bytes)};
    const Landscape landscape = ReadLandscape(text, "fuzz.csv", {});
    for (std::size_t i = 0; i < landscape.size(); ++i) Require(landscape.At(i).size() == landscape.Kinds().size(), "features");
  });
}

// What a row of the history holds as text or as bytes.
void Rows(std::string_view bytes) {
  Accepts([&] {
    const auto samples = DecodeSamples(bytes);
    Require(DecodeSamples(EncodeSamples(samples)) == samples, "samples do not read back as they were written");
  });
  ParseOutcome(bytes);
  ParseStage(bytes);
  const auto json = nlohmann::json::parse(bytes, nullptr, false);
  if (json.is_discarded()) return;
  Accepts([&] { json.get<CaseMeasurement>(); });
  Accepts([&] { json.get<Counterexample>(); });
}

// A candidate's source, and what a compiler says of it.
void Sources(std::string_view bytes) {
  CheckSource(bytes);
  const std::string text(bytes);
  ToHostSource(text);
  FirstHostError(text);
  ExplainLog(bytes, "candidate.cu");
  ReadPtxasReport(bytes, {"k", "second"});
  ParseDependencies(text);
}

// What compilers made of a candidate.
void Images(std::string_view bytes) {
  CheckPtx(bytes);
  VariableNames(bytes);
  EntryNames(bytes);
  Accepts([&] { LastingSections(bytes, {"total", "table"}); });
}

void AppendNumber(std::string& text, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
}

// CRC-32, as archives have it.
std::uint32_t CheckSum(std::string_view text) {
  constexpr std::uint32_t kPolynomial = 0xedb88320;
  std::uint32_t sum = ~0U;
  for (const char c : text) {
    sum ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1U) != 0 ? kPolynomial : 0U);
  }
  return ~sum;
}

// The least archive with one entry, stored as it is.
std::string Archive(std::string_view name, std::string_view contents) {
  std::string entry;                                                          // what the local header and the directory both say
  for (const int value : {20, 0, 0, 0, 0x21}) AppendNumber(entry, value, 2);  // version, flags, method, time, date
  AppendNumber(entry, CheckSum(contents), 4);
  AppendNumber(entry, contents.size(), 4);
  AppendNumber(entry, contents.size(), 4);
  AppendNumber(entry, name.size(), 2);
  AppendNumber(entry, 0, 2);
  std::string text = "PK\3\4" + entry;
  text.append(name).append(contents);
  const std::size_t directory = text.size();
  text += std::string("PK\1\2\x14\0", 6) + entry + std::string(14, '\0');
  text.append(name);
  const std::size_t size = text.size() - directory;
  text += std::string("PK\5\6\0\0\0\0\1\0\1\0", 12);
  AppendNumber(text, size, 4);
  AppendNumber(text, directory, 4);
  AppendNumber(text, 0, 2);
  return text;
}

// An .npz file, or one of its arrays: without the check sum, which changes would not meet.
void Arrays(std::string_view bytes) {
  Accepts([&] {
    const std::string file = bytes.starts_with("PK") ? std::string(bytes) : Archive("X.npy", bytes);
    for (const NpzArray& array : ParseNpz(file, "fuzz.npz")) {
      std::uint64_t size = ByteSize(array.dtype);
      for (const std::int64_t extent : array.shape) size *= static_cast<std::uint64_t>(extent);
      Require(array.bytes.size() == size, "an array has other bytes than its shape says");
    }
  });
}

constexpr FuzzTarget kTargets[] = {
    {"frames", Frames},         {"messages", Messages}, {"genomes", Genomes},         {"tasks", Tasks},
    {"templates", Templates},   {"launches", Launches}, {"expressions", Expressions}, {"inputs", Inputs},
    {"landscapes", Landscapes}, {"rows", Rows},         {"sources", Sources},         {"images", Images},
    {"arrays", Arrays},
};

}  // namespace

std::span<const FuzzTarget> FuzzTargets() { return kTargets; }

const FuzzTarget* FindFuzzTarget(std::string_view name) {
  const auto found = std::find_if(std::begin(kTargets), std::end(kTargets), [&](const FuzzTarget& t) { return t.name == name; });
  return found == std::end(kTargets) ? nullptr : found;
}

}  // namespace evo
