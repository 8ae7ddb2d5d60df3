// The templates of matrix products for Hopper are right on the cpu device, with every access checked. It takes inline PTX without
// macros, so that these are expanded first; clusters are left out.
#include <cstdlib>
#include <fstream>

#include "kernel_templates/renderer.h"
#include "kernel_templates/text_file.h"
#include "tests/mutators/children_bench.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

// The text with its macros expanded, and the parameters as they are.
std::string WithoutMacros(const std::string& text, const Parameters& parameters) {
  const fs::path file = fs::temp_directory_path() / fmt::format("evo_hopper_{}.cc", ::getpid());
  std::string kept, blocks;
  {
    std::ofstream code(file, std::ios::binary);
    std::istringstream lines(text);
    bool directive = false;
    for (std::string line; std::getline(lines, line);) {
      directive = line.starts_with("// evo:") || (directive && line.starts_with("//   "));
      if (line.starts_with("// evo:param")) continue;
      if (directive)
        kept += line + "\n";
      else if (!line.starts_with("#include <") && line != "#pragma nv_hdrstop")
        code << line << "\n";
    }
  }
  for (const auto& [name, value] : parameters) {
    kept += fmt::format("// evo:param {} {}\n", name, value);
    blocks += fmt::format("#ifndef {0}\n#define {0} {1}\n#endif\n", name, value);
  }
  const std::string command = fmt::format("g++ -E -P {0} -o {0}.expanded", file.string());
  EXPECT_EQ(std::system(command.c_str()), 0);
  const std::string expanded = ReadTextFile(file.string() + ".expanded").value_or("");
  fs::remove(file);
  fs::remove(file.string() + ".expanded");
  return kept + "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n" + blocks + expanded;
}

class HopperTemplatesTest : public ChildrenTest {};

TEST_F(HopperTemplatesTest, OfMatrixProductsAreRight) {
  const auto tiles = [](std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t stages) {
    return Parameters{{"BLOCK_M", m}, {"BLOCK_N", n}, {"BLOCK_K", k}, {"STAGES", stages}, {"CLUSTER", 1}};
  };
  const std::vector<std::pair<const char*, Parameters>> places{{"gemm_fp16", tiles(128, 256, 64, 4)},
                                                               {"gemm_fp16", tiles(256, 128, 128, 2)},
                                                               {"gemm_bf16", tiles(128, 192, 64, 3)},
                                                               {"linear_gelu_bf16", tiles(128, 128, 128, 3)},
                                                               {"linear_gelu_bf16", tiles(256, 128, 64, 3)}};
  for (const auto& [name, setting] : places) {
    SCOPED_TRACE(fmt::format("{} with {} x {}", name, setting.at("BLOCK_M"), setting.at("BLOCK_N")));
    const fs::path folder = ShareDirectory() / "kernel_templates" / name;
    const KernelTemplate kernel = LoadTemplate(folder / "wgmma.cu");
    Parameters parameters = kernel.space.Defaults();
    for (const auto& [parameter, value] : setting) parameters[parameter] = value;
    const std::string text = WithoutMacros(RenderParameters(kernel.text, parameters), parameters);
    for (const char* blocks : {"RESIDENT / CLUSTER", "1"}) {  // one tile a block, and all tiles in one block
      std::string launched = text;
      for (int line = 0; line < 2; ++line) launched = With(launched, "RESIDENT / CLUSTER))", fmt::format(" {} ))", blocks));
      const auto failure = Judge(LoadTask(folder), launched, true);
      EXPECT_FALSE(failure) << blocks << ": " << failure->message;
    }
  }
}

}  // namespace
}  // namespace evo
