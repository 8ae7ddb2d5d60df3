#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/half.h"
#include "kernel_templates/launch_plan.h"
#include "tests/mutators/children_bench.h"

namespace evo {

// What a macro is expected to do with a kernel: apply, or say a text that contains this.
struct ForeignKernel {
  std::string name;  // of the file, without .cu
  std::string refusal = {};
};

// Kernels in files of their own, as different people write them. Two comments say on what they run:
//   buffers: NAME dtype[<BOUND] in|out|inout [SHAPE], ..
//   sizes: N=1; N=300
// Parents and children run on the cpu device on the same numbers; what they leave in the buffers is compared.
class ForeignKernelTest : public ChildrenTest {
 protected:
  // How many of a macro's proposals for a kernel are tried.
  std::size_t forms_ = 1;

  struct Buffer {
    std::string name;
    Dtype dtype = Dtype::kF32;
    std::uint32_t bound = 0;  // of integers
    bool out = false;
    bool drawn = true;  // whether it begins with random numbers
    std::string shape;
  };

  // The text after `// WORD: `.
  static std::string CommentOf(const std::string& text, const std::string& word) {
    const std::string mark = "// " + word + ": ";
    const std::size_t at = text.find(mark);
    EXPECT_NE(at, std::string::npos) << word;
    return text.substr(at + mark.size(), text.find('\n', at) - at - mark.size());
  }

  static std::vector<Buffer> BuffersOf(const std::string& text) {
    std::vector<Buffer> buffers;
    std::istringstream words(CommentOf(text, "buffers"));
    Buffer next;
    for (std::string type, role; words >> next.name >> type >> role && std::getline(words, next.shape, ']');) {
      const std::size_t less = type.find('<');
      next.dtype = ParseDtype(type.substr(0, less)).value();
      next.bound = less == std::string::npos ? 0 : static_cast<std::uint32_t>(std::stoul(type.substr(less + 1)));
      next.out = role != "in";
      next.drawn = role != "out";
      next.shape.erase(0, next.shape.find('[') + 1);
      buffers.push_back(next);
      words.ignore();  // the comma
    }
    return buffers;
  }

  // A task for each line of sizes. Its reference is not run.
  static std::vector<Task> TasksOf(const std::string& text) {
    std::vector<Task> tasks;
    std::istringstream choices(CommentOf(text, "sizes"));
    for (std::string choice; std::getline(choices, choice, ';');) {
      std::vector<std::string> names, sizes, arguments, passed, parameters;
      std::istringstream words(choice);
      for (std::string word; words >> word;) {
        names.push_back(fmt::format("\"{}\"", word.substr(0, word.find('='))));
        sizes.push_back(fmt::format("{}: {}", names.back(), word.substr(word.find('=') + 1)));
      }
      for (const Buffer& buffer : BuffersOf(text)) {
        std::vector<std::string> shape;
        std::istringstream dimensions(buffer.shape);
        for (std::string dimension; std::getline(dimensions, dimension, ',');) shape.push_back(fmt::format("\"{}\"", dimension));
        const char* const check = IsFloating(buffer.dtype) ? R"("check": {"l2": 1e-5, "max": 1e-4})" : R"("check": "exact")";
        const char* const drawn = IsFloating(buffer.dtype) ? R"("generators": ["normal"])" : R"("generators": ["index<2"])";
        arguments.push_back(fmt::format(R"({{"name": "{}", "role": "{}", "dtype": "{}", "shape": [{}], {}}})", buffer.name,
                                        buffer.out ? "out" : "in", ToString(buffer.dtype), fmt::join(shape, ", "),
                                        buffer.out ? check : drawn));
        passed.push_back(buffer.name);
        parameters.push_back(fmt::format("void* {}", buffer.name));
      }
      std::string cases;
      for (const char* name : {"search", "search_cpu", "held_out", "held_out_cpu"})
        cases += fmt::format(R"(, "{0}": [{{"name": "{0}", "sizes": {{{1}}}}}])", name, fmt::join(sizes, ", "));
      tasks.push_back(ParseTask(fmt::format(R"({{"name": "foreign", "summary": "one", "sizes": [{}], "arguments": [{}],
              "cases": {{"small": {{"name": "small", "sizes": {{{}}}}}{}}},
              "baseline": "naive", "bytes": "1", "operations": "1"}})",
                                            fmt::join(names, ", "), fmt::join(arguments, ", "), fmt::join(sizes, ", "), cases),
                                fmt::format("// evo:launch nothing({}) grid(1) block(1)\n__global__ void nothing({}) {{}}\n",
                                            fmt::join(passed, ", "), fmt::join(parameters, ", ")),
                                "foreign"));
    }
    return tasks;
  }

  // Random contents of a buffer, as bytes.
  static std::vector<unsigned char> Drawn(const Buffer& buffer, std::size_t elements, std::mt19937& random) {
    std::normal_distribution<float> normal;
    std::vector<unsigned char> bytes(elements * ByteSize(buffer.dtype));
    for (std::size_t i = 0; i < elements; ++i) {
      unsigned char* const at = bytes.data() + i * ByteSize(buffer.dtype);
      const float real = normal(random);
      const auto integer = static_cast<std::uint32_t>(random() % std::max(1u, buffer.bound));
      if (buffer.dtype == Dtype::kF32) {
        std::memcpy(at, &real, sizeof(real));
      } else if (buffer.dtype == Dtype::kF64) {
        const double longer = static_cast<double>(real);
        std::memcpy(at, &longer, sizeof(longer));
      } else if (IsFloating(buffer.dtype)) {
        const std::uint16_t shortened = buffer.dtype == Dtype::kF16 ? ToHalfBits(real) : ToBFloat16Bits(real);
        std::memcpy(at, &shortened, sizeof(shortened));
      } else
        std::memcpy(at, &integer, std::min(sizeof(integer), ByteSize(buffer.dtype)));
    }
    return bytes;
  }

  // What the launches of a source leave in the outputs; empty if it cannot be run.
  std::vector<double> OutputsOf(const std::string& foreign, const Task& task, const std::string& source,
                                const CompileResult& compiled, std::uint64_t schedule) {
    const auto program = Load(compiled);
    const KernelTemplate rendered = ParseTemplate("child", source);
    const auto planned = PlanLaunches(rendered, rendered.space.Defaults(), task, task.small);
    if (const auto* failure = std::get_if<PlanFailure>(&planned)) {
      ADD_FAILURE() << failure->message << "\n" << source;
      return {};
    }
    const LaunchPlan& plan = std::get<LaunchPlan>(planned);
    std::mt19937 random(5);
    std::map<std::string, std::pair<Address, std::size_t>> places;
    const auto buffers = BuffersOf(foreign);
    const Variables variables = CaseVariables(task, task.small);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const auto elements = static_cast<std::size_t>(ElementCount(task.arguments[i], variables));
      const auto bytes = buffers[i].drawn ? Drawn(buffers[i], elements, random)
                                          : std::vector<unsigned char>(elements * ByteSize(buffers[i].dtype));
      places[buffers[i].name] = {Upload(bytes), bytes.size()};
    }
    for (const PlannedWorkspace& workspace : plan.workspaces) {
      const std::vector<unsigned char> poison(static_cast<std::size_t>(workspace.elements) * ByteSize(workspace.dtype), 0xA5);
      places[workspace.name] = {Upload(poison), poison.size()};
    }
    Fill(plan, compiled, *program, places);
    for (const auto& step : plan.steps) {
      if (const auto* fill = std::get_if<PlannedMemset>(&step)) {
        const auto& [address, bytes] = places.at(fill->buffer);
        std::memset(reinterpret_cast<void*>(address), fill->value, bytes);
        continue;
      }
      const DeviceStatus status = Run(*program, Bind(std::get<PlannedLaunch>(step), compiled, places), schedule);
      EXPECT_TRUE(status.ok()) << status.message << "\n" << source;
      if (!status.ok()) return {};
    }
    std::vector<double> stored;
    for (const Buffer& buffer : buffers) {
      if (buffer.out) Append(buffer, places.at(buffer.name), stored);
    }
    for (const auto& [name, place] : places) device_->memory().Free(place.first);
    return stored;
  }

  // What lies in the `__constant__` variables that buffers fill.
  static void Fill(const LaunchPlan& plan, const CompileResult& compiled, const LoadedProgram& program,
                   const std::map<std::string, std::pair<Address, std::size_t>>& places) {
    for (std::size_t i = 0; i < plan.constants.size(); ++i) {
      const Address from = places.at(std::get<BufferUse>(plan.constants[i].source).name).first;
      for (const DeviceRange& variable : program.Places(compiled.program.variables.at(i).symbol))
        std::memcpy(reinterpret_cast<void*>(variable.address), reinterpret_cast<const void*>(from), variable.bytes);
    }
  }

  static void Append(const Buffer& buffer, const std::pair<Address, std::size_t>& place, std::vector<double>& stored) {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(place.first);
    for (std::size_t at = 0; at < place.second; at += ByteSize(buffer.dtype)) {
      if (buffer.dtype == Dtype::kF64) {
        std::memcpy(&stored.emplace_back(), bytes + at, sizeof(double));
        continue;
      }
      if (buffer.dtype == Dtype::kI64 || buffer.dtype == Dtype::kU64) {
        std::int64_t longer = 0;  // of a few thousand small numbers
        std::memcpy(&longer, bytes + at, sizeof(longer));
        stored.push_back(static_cast<double>(longer));
        continue;
      }
      float real = 0;
      std::uint32_t integer = 0;
      std::memcpy(&integer, bytes + at, std::min(sizeof(integer), ByteSize(buffer.dtype)));
      std::memcpy(&real, &integer, sizeof(real));
      if (buffer.dtype == Dtype::kF16) real = FromHalfBits(static_cast<std::uint16_t>(integer));
      if (buffer.dtype == Dtype::kBF16) real = FromBFloat16Bits(static_cast<std::uint16_t>(integer));
      stored.push_back(IsFloating(buffer.dtype) ? static_cast<double>(real) : static_cast<double>(integer));
    }
  }

  static DeviceLaunch Bind(const PlannedLaunch& planned, const CompileResult& compiled,
                           const std::map<std::string, std::pair<Address, std::size_t>>& places) {
    DeviceLaunch launch{0, planned.grid, planned.block, planned.cluster, planned.shared_bytes, planned.cooperative, {}};
    while (compiled.program.kernels.at(launch.kernel).expression != planned.kernel_expression) ++launch.kernel;
    const auto bind = [&](const auto& argument, auto& list) {
      if (const auto* buffer = std::get_if<BufferUse>(&argument))
        list.emplace_back(places.at(buffer->name).first);
      else
        list.emplace_back(std::get<ScalarUse>(argument));
    };
    for (const LaunchArgument& argument : planned.arguments) {
      if (const auto* passed = std::get_if<StructUse>(&argument)) {
        DeviceStruct fields;
        for (const auto& field : passed->fields) bind(field, fields.fields);
        launch.arguments.emplace_back(fields);
      } else {
        bind(argument, launch.arguments);
      }
    }
    return launch;
  }

  // How far apart values may be, as a part of the largest one: as the rounding of a sum of some thousand terms, or of a few
  // numbers of the shortest type that is stored or read; bytes that were rounded from sums may differ by one.
  static double ToleranceOf(const std::string& text) {
    double tolerance = 2e-5;
    for (const Buffer& buffer : BuffersOf(text)) {
      if (buffer.dtype == Dtype::kF16) tolerance = std::max(tolerance, 2e-3);
      if (buffer.dtype == Dtype::kBF16) tolerance = std::max(tolerance, 1.6e-2);
      if (buffer.dtype == Dtype::kU8 && buffer.out) tolerance = std::max(tolerance, 1.0 / 128);
    }
    return tolerance;
  }

  // How many outputs differ by more than a part of the largest one. Those of an exact child must be equal: a tolerance of 0.
  static int Differences(const std::vector<double>& expected, const std::vector<double>& stored, double tolerance) {
    if (expected.empty() || expected.size() != stored.size()) return -1;
    double scale = 0;
    for (const double value : expected) scale = std::max(scale, std::fabs(value));
    int differences = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (std::isnan(expected[i]) && std::isnan(stored[i])) continue;
      differences += !(std::fabs(expected[i] - stored[i]) <= tolerance * scale);
    }
    return differences;
  }

  // Whether a macro applies to a kernel. If it does, its children must compile for a GPU and do what the parent does, at their
  // first sizes, every access checked; if not, `refusal` gets the reasons.
  bool Applies(const std::string& macro, const std::string& text, std::string& refusal) {
    const SourceMutator& mutator = SourceMutatorNamed(macro);
    const Parent parent(ParseTemplate("kernel", text));
    for (const std::string& error : parent.tree->errors()) EXPECT_THAT(error, testing::StartsWith("/")) << "not in a header";
    const auto proposals = mutator.Proposals(parent.Context());
    if (proposals.empty()) {
      for (const std::string& why : mutator.Refusals(parent.Context())) refusal += (refusal.empty() ? "" : "; ") + why;
      if (refusal.empty()) refusal = "(silence)";
      return false;
    }
    for (std::size_t i = 0; i < std::min(proposals.size(), forms_); ++i) CheckChild(mutator, text, proposals[i]);
    return true;
  }

  void CheckChild(const SourceMutator& mutator, const std::string& text, const Proposal& proposal) {
    Parent parent(ParseTemplate("kernel", text));
    const std::string source = parent.rendering.source;
    parent.genome.edits = {mutator.EditOf(parent.Context(), proposal)};
    for (const BroughtParameter& brought : parent.genome.edits[0].brings)
      parent.genome.parameters[brought.name] = brought.initial;
    parent.Render();
    EXPECT_EQ(parent.rendering.dropped, std::vector<std::string>{});
    const std::string child = parent.rendering.source;
    if (std::getenv("EVO_SHOW_CHILDREN") != nullptr) std::cout << child << std::endl;
    EXPECT_EQ(CompileWith(*nvrtc_, child).message, "") << child;
    const auto own_macros = ParseTemplate("parent", source).size_macros, size_macros = ParseTemplate("child", child).size_macros;
    CompileResult old_code, new_code;
    const double tolerance = mutator.promise() == Promise::kExact ? 0 : ToleranceOf(text);
    for (const Task& task : TasksOf(text)) {
      if (old_code.program.image.empty() || !own_macros.empty()) {
        old_code = CompileWith(*compiler_, RenderSizes(source, ValuesFor(own_macros, task.small.sizes)));
        EXPECT_EQ(old_code.outcome, Outcome::kOk) << old_code.message << "\n" << source;
        if (old_code.outcome != Outcome::kOk) return;
      }
      if (new_code.program.image.empty() || !size_macros.empty()) {
        new_code = CompileWith(*compiler_, RenderSizes(child, ValuesFor(size_macros, task.small.sizes)), true);
        EXPECT_EQ(new_code.outcome, Outcome::kOk) << new_code.message << "\n" << child;
        if (new_code.outcome != Outcome::kOk) return;
      }
      const auto expected = OutputsOf(text, task, source, old_code, 0);
      EXPECT_EQ(Differences(expected, OutputsOf(text, task, child, new_code, 1), tolerance), 0) << child;
    }
  }

  // A kernel of the folder in which `from` is replaced is refused, with a reason that contains `why`.
  void Refuses(const std::string& macro, const std::string& kernel, const std::string& from, const std::string& to,
               const std::string& why) {
    SCOPED_TRACE(kernel + ": " + to);
    const std::string text = LoadTemplate(std::filesystem::path(EVO_FOREIGN_KERNELS) / (kernel + ".cu")).text;
    std::string refusal;
    const bool applies = Applies(macro, With(text, from, to), refusal);
    EXPECT_THAT(applies ? "applies" : refusal, testing::HasSubstr(why));
  }

  // Each kernel of the folder by itself: it compiles for a GPU, and leaves the same numbers however its threads take turns.
  void CheckParents() {
    for (const auto& entry : std::filesystem::directory_iterator(EVO_FOREIGN_KERNELS)) {
      if (entry.path().extension() != ".cu") continue;
      const std::string text = LoadTemplate(entry.path()).text;
      SCOPED_TRACE(entry.path().stem().string());
      const std::string source = Parent(ParseTemplate("kernel", text)).rendering.source;
      EXPECT_EQ(CompileWith(*nvrtc_, source).message, "");
      const CompileResult compiled = CompileWith(*compiler_, source, true);
      ASSERT_EQ(compiled.outcome, Outcome::kOk) << compiled.message;
      for (const Task& task : TasksOf(text)) {
        const auto stored = OutputsOf(text, task, source, compiled, 0);
        EXPECT_EQ(Differences(stored, OutputsOf(text, task, source, compiled, 1), 0), 0);
        for (const double number : stored) ASSERT_TRUE(std::isfinite(number));
      }
    }
  }

  // Each kernel of the folder has its line in the table, and a macro does with it what the table says.
  void Check(const std::string& macro, const std::vector<ForeignKernel>& kernels) {
    std::vector<std::string> listed, present;
    for (const ForeignKernel& kernel : kernels) {
      SCOPED_TRACE(kernel.name);
      listed.push_back(kernel.name);
      const std::string text = LoadTemplate(std::filesystem::path(EVO_FOREIGN_KERNELS) / (kernel.name + ".cu")).text;
      std::string refusal;
      const bool applies = Applies(macro, text, refusal);
      if (std::getenv("EVO_SHOW_TABLE") != nullptr)
        std::cout << fmt::format("{:<24} {:<36} {}", macro, kernel.name, applies ? "applies" : refusal) << std::endl;
      if (kernel.refusal.empty())
        EXPECT_TRUE(applies) << refusal;
      else
        EXPECT_THAT(applies ? "applies" : refusal, testing::HasSubstr(kernel.refusal));
    }
    for (const auto& entry : std::filesystem::directory_iterator(EVO_FOREIGN_KERNELS)) {
      if (entry.path().extension() == ".cu") present.push_back(entry.path().stem().string());
    }
    EXPECT_THAT(listed, testing::UnorderedElementsAreArray(present));
  }
};

}  // namespace evo
