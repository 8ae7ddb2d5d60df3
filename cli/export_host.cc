#include "cli/export_host.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kernel_templates/task_shape.h"

namespace evo {
namespace {

constexpr const char* kHead = R"(
#include <cuda_runtime.h>

#include <cmath>

namespace evo_host {

// What the expressions of the launch lines mean.
template <class A, class B>
constexpr auto min(A a, B b) { return a < b ? a : b; }
template <class A, class B>
constexpr auto max(A a, B b) { return a > b ? a : b; }
constexpr long long ceil_div(long long a, long long b) { return (a + b - 1) / b; }
using std::sqrt;
)";

constexpr const char* kLaunch = R"(
inline cudaError_t launch(const void* kernel, dim3 grid, dim3 block, dim3 cluster, bool cooperative, long long shared,
                          void** arguments, cudaStream_t stream) {
  cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
  if (error != cudaSuccess) return error;
  cudaLaunchAttribute attributes[2] = {};
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = static_cast<size_t>(shared);
  config.stream = stream;
  config.attrs = attributes;
  if (cluster.x * cluster.y * cluster.z > 1) {
    // More than eight blocks of a cluster have to be allowed.
    if (cluster.x * cluster.y * cluster.z > 8)
      error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (error != cudaSuccess) return error;
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster.x;
    attribute.val.clusterDim.y = cluster.y;
    attribute.val.clusterDim.z = cluster.z;
  }
  if (cooperative) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
  }
  return cudaLaunchKernelExC(&config, kernel, arguments);
}
)";

constexpr const char* kMap = R"(
// Describes a buffer to the copy engine; strides follow from the dims. The driver's function is looked up by name, so that
// nothing links to libcuda.
inline cudaError_t make_map(CUtensorMap* map, CUtensorMapDataType type, int bytes, const void* buffer, int rank,
                            const long long* dims, const long long* box, CUtensorMapSwizzle swizzle) {
  static decltype(&cuTensorMapEncodeTiled) encode = nullptr;
  if (encode == nullptr) {
    cudaDriverEntryPointQueryResult found;
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", reinterpret_cast<void**>(&encode), 12000, cudaEnableDefault,
                                         &found);
    if (error != cudaSuccess) return error;
    if (found != cudaDriverEntryPointSuccess) return cudaErrorNotSupported;
  }
  cuuint64_t extents[5], strides[5];
  cuuint32_t boxes[5], steps[5];
  cuuint64_t stride = bytes;
  for (int i = 0; i < rank; ++i) {
    extents[i] = dims[i];
    strides[i] = stride *= dims[i];
    boxes[i] = static_cast<cuuint32_t>(box[i]);
    steps[i] = 1;
  }
  const CUresult result =
      encode(map, type, rank, const_cast<void*>(buffer), extents, strides, boxes, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}
)";

const char* TypeName(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
      return "double";
    case Dtype::kF32:
      return "float";
    case Dtype::kF16:
      return "__half";
    case Dtype::kBF16:
      return "__nv_bfloat16";
    case Dtype::kI64:
      return "long long";
    case Dtype::kI32:
      return "int";
    case Dtype::kI16:
      return "short";
    case Dtype::kI8:
      return "signed char";
    case Dtype::kU64:
      return "unsigned long long";
    case Dtype::kU32:
      return "unsigned";
    case Dtype::kU16:
      return "unsigned short";
    default:
      return "unsigned char";
  }
}

const char* MapType(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
      return "FLOAT64";
    case Dtype::kF32:
      return "FLOAT32";
    case Dtype::kF16:
      return "FLOAT16";
    case Dtype::kBF16:
      return "BFLOAT16";
    case Dtype::kI64:
      return "INT64";
    case Dtype::kI32:
      return "INT32";
    case Dtype::kU64:
      return "UINT64";
    case Dtype::kU32:
      return "UINT32";
    case Dtype::kU16:
      return "UINT16";
    default:
      return "UINT8";
  }
}

std::vector<std::string> Texts(const std::vector<Expression>& expressions) {
  std::vector<std::string> texts;
  for (const Expression& expression : expressions) texts.push_back(expression.text());
  return texts;
}

std::string Product(const std::vector<Expression>& factors) {
  return factors.empty() ? "1" : fmt::format("({})", fmt::join(Texts(factors), ") * ("));
}

// As a dim3.
std::string Extents(const std::vector<Expression>& values) {
  std::vector<std::string> casts;
  for (const std::string& text : Texts(values)) casts.push_back(fmt::format("static_cast<unsigned>({})", text));
  return fmt::format("dim3({})", fmt::join(casts, ", "));
}

class HostWriter {
 public:
  HostWriter(const KernelTemplate& exported, const Task& task, const std::vector<Case>& verified)
      : exported_(exported), task_(task), verified_(verified) {}

  std::string Function() {
    std::vector<std::string> parameters;
    for (const Argument& argument : task_.arguments) {
      if (argument.role == Role::kScalar) continue;
      parameters.push_back(fmt::format("{}void* {}", argument.role == Role::kIn ? "const " : "", argument.name));
    }
    for (const std::string& size : task_.size_names) parameters.push_back("long long " + size);
    text_ = fmt::format("\ninline cudaError_t evo_launch({}, cudaStream_t stream) {{\n", fmt::join(parameters, ", "));
    for (const std::string& size : task_.size_names) Line("(void){};", size);
    AddVerifiedSizes();
    for (const Argument& argument : task_.arguments) {
      if (argument.role == Role::kScalar) {
        Line("{0} {1} = static_cast<{0}>({2});\n  (void){1};", TypeName(argument.dtype), argument.name, argument.value->text());
      }
    }
    Line("cudaError_t error = cudaSuccess;");
    for (const Workspace& workspace : exported_.workspaces) {
      Line("void* {} = nullptr;", workspace.name);
      Line("if (error == cudaSuccess) error = cudaMallocAsync(&{}, {} * {}, stream);", workspace.name, Product(workspace.shape),
           ByteSize(workspace.dtype));
    }
    for (const TensorMapDirective& map : exported_.tensor_maps) AddMap(map);
    for (const Step& step : exported_.steps) {
      if (step.launch) AddLaunch(*step.launch);
      if (step.memset)
        Line("if (error == cudaSuccess) error = cudaMemsetAsync({}, {}, {}, stream);", step.memset->buffer, step.memset->value,
             BytesOf(step.memset->buffer));
    }
    for (const Workspace& workspace : exported_.workspaces)
      Line("if ({0} != nullptr) cudaFreeAsync({0}, stream);", workspace.name);
    Line("return error;");
    return text_ + "}\n";
  }

 private:
  void AddVerifiedSizes() {
    if (verified_.empty()) return;
    text_ += "#ifndef EVO_ANY_SIZE   // the kernel was shown right between these sizes only\n";
    for (const std::string& size : task_.size_names) {
      const auto less = [&](const Case& a, const Case& b) { return a.sizes.at(size) < b.sizes.at(size); };
      const auto [least, most] = std::minmax_element(verified_.begin(), verified_.end(), less);
      Line("if ({0} < {1} || {0} > {2}) return cudaErrorInvalidValue;", size, least->sizes.at(size), most->sizes.at(size));
    }
    text_ += "#endif\n";
  }

  template <class... Values>
  void Line(fmt::format_string<Values...> format, Values&&... values) {
    text_ += "  " + fmt::format(format, std::forward<Values>(values)...) + "\n";
  }

  const Argument* Find(const std::string& name) const {
    const auto found =
        std::find_if(task_.arguments.begin(), task_.arguments.end(), [&](const Argument& a) { return a.name == name; });
    return found == task_.arguments.end() ? nullptr : &*found;
  }

  const Workspace* FindWorkspace(const std::string& name) const {
    const auto found = std::find_if(exported_.workspaces.begin(), exported_.workspaces.end(),
                                    [&](const Workspace& w) { return w.name == name; });
    return found == exported_.workspaces.end() ? nullptr : &*found;
  }

  Dtype DtypeOf(const std::string& buffer) const {
    if (const Workspace* workspace = FindWorkspace(buffer)) return workspace->dtype;
    const Argument* argument = Find(buffer);
    return argument != nullptr ? argument->dtype : Dtype::kU8;
  }

  std::string BytesOf(const std::string& buffer) const {
    const Workspace* workspace = FindWorkspace(buffer);
    const Argument* argument = Find(buffer);
    const std::string elements = workspace != nullptr  ? Product(workspace->shape)
                                 : argument != nullptr ? Product(argument->shape)
                                                       : "0";
    return fmt::format("{} * {}", elements, ByteSize(DtypeOf(buffer)));
  }

  void AddMap(const TensorMapDirective& map) {
    const Dtype dtype = DtypeOf(map.buffer);
    Line("const long long {}_dims[] = {{{}}};", map.name, fmt::join(Texts(map.dims), ", "));
    Line("const long long {}_box[] = {{{}}};", map.name, fmt::join(Texts(map.box), ", "));
    Line("const long long {}_swizzle = {};", map.name, map.swizzle.text());
    Line("CUtensorMap {};", map.name);
    Line("if (error == cudaSuccess) {{");
    Line("  error = make_map(&{0}, CU_TENSOR_MAP_DATA_TYPE_{1}, {2}, {3}, {4}, {0}_dims, {0}_box,", map.name, MapType(dtype),
         ByteSize(dtype), map.buffer, map.dims.size());
    Line("                   {0}_swizzle == 128 ? CU_TENSOR_MAP_SWIZZLE_128B : {0}_swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B",
         map.name);
    Line("                   : {0}_swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B : CU_TENSOR_MAP_SWIZZLE_NONE);", map.name);
    Line("}}");
  }

  void AddLaunch(const LaunchDirective& launch) {
    Line("if (error == cudaSuccess{}) {{", launch.when ? fmt::format(" && ({})", launch.when->text()) : std::string());
    std::vector<std::string> arguments;
    for (const std::string& argument : launch.arguments) {
      const auto is_map = [&](const TensorMapDirective& map) { return map.name == argument; };
      if (Find(argument) != nullptr || FindWorkspace(argument) != nullptr ||
          std::any_of(exported_.tensor_maps.begin(), exported_.tensor_maps.end(), is_map)) {
        const Argument* named = Find(argument);
        const bool read_only = named != nullptr && named->role == Role::kIn;
        arguments.push_back(read_only ? fmt::format("const_cast<void**>(&{})", argument) : fmt::format("&{}", argument));
      } else {
        Line("  int argument_{} = static_cast<int>({});", arguments.size(), argument);
        arguments.push_back(fmt::format("&argument_{}", arguments.size()));
      }
    }
    Line("  void* arguments[] = {{{}}};", fmt::join(arguments, ", "));
    Line("  error = launch(reinterpret_cast<const void*>(&::{}),", launch.kernel_expression);
    Line("                 {}, {}, {}, {},", Extents(launch.grid), Extents(launch.block),
         launch.cluster.empty() ? "dim3(1)" : Extents(launch.cluster), launch.cooperative);
    Line("                 {}, arguments, stream);", launch.shared.text());
    Line("}}");
  }

  const KernelTemplate& exported_;
  const Task& task_;
  const std::vector<Case>& verified_;
  std::string text_;
};

}  // namespace

std::string ArchToCompileFor(const KernelTemplate& exported, const std::string& run_arch) {
  const std::string& required = exported.required_arch;
  return !required.empty() && (required.back() == 'a' || required.back() == 'f') ? required : run_arch;
}

std::string NvccTarget(const std::string& arch) {
  if (arch.starts_with("sm_") && (arch.back() == 'a' || arch.back() == 'f'))
    return fmt::format("-gencode arch=compute_{},code={}", arch.substr(3), arch);
  return "-arch=" + (arch.empty() ? "native" : arch);
}

std::string ExportHost(const KernelTemplate& exported, const Task& task, const std::string& kernel_file,
                       const std::string& run_arch, const std::vector<std::string>& verified_sizes) {
  std::vector<Case> verified;
  for (const std::string& sizes : verified_sizes) {
    if (auto one = FindCase(task, sizes)) verified.push_back(std::move(*one));
  }
  if (!verified.empty()) {
    verified.push_back(task.small);
    for (const auto* cases : {&task.search_cuda, &task.search_cpu, &task.held_out, &task.held_out_cpu})
      verified.insert(verified.end(), cases->begin(), cases->end());
  }
  std::string text = fmt::format(
      "// Launches {}, for any sizes that it takes. Buffers are device pointers in the order of the task {}, sizes follow.\n",
      kernel_file, task.name);
  text += fmt::format("// Compile: nvcc -std=c++17 {} -c FILE\n#include \"{}\"\n\n",
                      NvccTarget(ArchToCompileFor(exported, run_arch)), kernel_file);
  if (!exported.tensor_maps.empty()) text += "#include <cuda.h>\n";
  text += std::string(kHead).substr(1) + kLaunch;
  if (!exported.tensor_maps.empty()) text += kMap;
  return text + HostWriter(exported, task, verified).Function() + "\n}  // namespace evo_host\n";
}

}  // namespace evo
