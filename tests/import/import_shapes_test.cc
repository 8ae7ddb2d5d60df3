// What shapes of buffers say of sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/import/importing.h"

namespace evo {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Columns of one matrix and rows of the other are one size, if the host has one value for them and the result is a product's.
TEST(ImportShapes, InnerSizesOfAProductAreOne) {
  const auto program = [](const std::string& rows, const std::string& result) {
    return R"(
__global__ void product(const float* A, const float* B, float* C, int numARows, int numAColumns, int numBRows, int numBColumns) {
  int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < numAColumns; k++) {
    if (k < numBRows && col < numBColumns && row < numARows) sum += A[row * numAColumns + k] * B[k * numBColumns + col];
  }
  if (row < numARows && col < numBColumns) C[row * numBColumns + col] = sum;
}
int main() {
  int numARows = 200, numAColumns = 310, numBRows = )" +
           rows + R"(, numBColumns = 127;
  float *A, *B, *C;
  cudaMalloc(&A, numARows * numAColumns * sizeof(float));
  cudaMalloc(&B, numBRows * numBColumns * sizeof(float));
  cudaMalloc(&C, )" +
           result + R"( * sizeof(float));
  dim3 grid((numBColumns + 15) / 16, (numARows + 15) / 16), block(16, 16);
  product<<<grid, block>>>(A, B, C, numARows, numAColumns, numBRows, numBColumns);
}
)";
  };
  const std::string result = "numARows * numBColumns";
  const ImportReply reply = Read(program("310", result));
  EXPECT_THAT(Kernel(reply), HasSubstr("product(A, B, C, numARows, numAColumns, numAColumns, numBColumns)"));
  EXPECT_EQ(ArgumentOf(TaskOf(reply), "B").at("shape"), json({"numAColumns", "numBColumns"}));
  const std::string apart = "product(A, B, C, numARows, numAColumns, numBRows, numBColumns)";
  EXPECT_THAT(Kernel(Read(program("311", result))), HasSubstr(apart));
  EXPECT_THAT(Kernel(Read(program("310", "numARows * numAColumns"))), HasSubstr(apart));
  EXPECT_THAT(Kernel(Read(program("310", result), {}, {{"numBRows", "310"}})), HasSubstr(apart));
}

// How many elements a thread takes is a number of the kernel, also where it decides how many there are.
TEST(ImportShapes, ElementsOfAThreadAreNoSize) {
  const ImportReply reply = Read(R"(
#define BLOCK_DIM 1024
#define COARSE_FACTOR 2
__global__ void sum(const float* x, float* y) {
  unsigned i = COARSE_FACTOR * blockDim.x * blockIdx.x + threadIdx.x;
  float s = 0;
  for (unsigned t = 0; t < COARSE_FACTOR; ++t) s += x[i + t * BLOCK_DIM];
  atomicAdd(y, s);
}
int main() {
  const int blocks = 4;
  const int n = COARSE_FACTOR * BLOCK_DIM * blocks;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, sizeof(float));
  cudaMemset(y, 0, sizeof(float));
  sum<<<blocks, BLOCK_DIM>>>(x, y);
}
)");
  EXPECT_THAT(Kernel(reply),
              testing::AllOf(HasSubstr("#define COARSE_FACTOR 2"), testing::Not(HasSubstr("evo:size COARSE_FACTOR"))));
  EXPECT_EQ(TaskOf(reply).at("sizes"), json({"blocks"}));
}

// Parts of one allocation in a struct would be one buffer, which the kernel reads and writes.
TEST(ImportShapes, PartsOfOneAllocationInAStructAreRefused) {
  const auto program = [](const std::string& launch) {
    return R"(
struct Params { const float* q; float* out; int n; };
__global__ void fields(Params p) { if (threadIdx.x < p.n) p.out[threadIdx.x] = p.q[threadIdx.x]; }
__global__ void plain(const float* q, float* out) { out[threadIdx.x] = q[threadIdx.x]; }
int main(int argc, char** argv) {
  int n = atoi(argv[1]);
  float *buf, *other;
  cudaMalloc(&buf, 2 * n * sizeof(float));
  cudaMalloc(&other, n * sizeof(float));
)" + launch +
           "}\n";
  };
  EXPECT_THAT(Read(program("  Params p = {buf, buf + n, n};\n  fields<<<1, 256>>>(p);\n"), {"fields"}).failure,
              HasSubstr("line 11: fields gets several parts of what buf points to; allocate a buffer for each of them"));
  EXPECT_THAT(Kernel(Read(program("  plain<<<1, 256>>>(buf, buf + n);\n"), {"plain"})),
              testing::AllOf(HasSubstr("plain(q, q, i64(n))"),
                             HasSubstr("const float* q, float* out, long long out_begin) { out += out_begin;")));
  EXPECT_EQ(Read(program("  plain<<<1, 256>>>(buf + n, buf + n);\n"), {"plain"}).failure, "") << "in place";
  EXPECT_EQ(Read(program("  Params p = {buf, other, n};\n  fields<<<1, 256>>>(p);\n"), {"fields"}).failure, "");
  EXPECT_EQ(Read(program("  plain<<<1, 256>>>(buf + n, other);\n"), {"plain"}).failure, "");
}

// A launch line passes whole buffers, so that the kernel adds what the host has added.
TEST(ImportShapes, KernelsAddWhatTheHostAddsToAPointer) {
  const auto line = [](const std::string& launches) {
    const std::string text = Kernel(Read(R"(
__global__ void add(const float* x, float* y, int n = 5);
__global__ void add(const float* x, float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] += x[threadIdx.x]; }
int main(int argc, char** argv) {
  int n = atoi(argv[1]), block = 256;
  float *x, *y;
  cudaMalloc(&x, 9 * n * sizeof(float));
  cudaMalloc(&y, 9 * n * sizeof(float));
)" + launches + "}\n"));
    const std::size_t begin = text.find("// evo:launch ");
    return text.substr(begin, text.find(" grid", begin) - begin) +
           (text.find("y += y_begin;") != std::string::npos ? ", adds" : "");
  };
  EXPECT_EQ(line("  add<<<1, 256>>>(x, y + block);\n"), "// evo:launch add(x, y, i64(BLOCK), n), adds");
  EXPECT_EQ(line("  add<<<1, 256>>>(x, &y[2 * n + 1], n);\n"), "// evo:launch add(x, y, i64(2 * n + 1), n), adds");
  EXPECT_EQ(line("  float* tail = y + n;\n  add<<<1, 256>>>(x, tail, n);\n"), "// evo:launch add(x, y, i64(n), n), adds");
  EXPECT_EQ(line("  add<<<1, 256>>>(x, y + 3, n);\n"), "// evo:launch add(x, y, n)") << "pointer_offsets.h writes it";
  EXPECT_EQ(line("  add<<<1, 256>>>(x, y + 3, n);\n  add<<<1, 256>>>(x, y + 4, n);\n"),
            "// evo:launch add(x, y, i64(3), n), adds");
  EXPECT_EQ(line("  float* tail = y + n;\n  tail += 7;\n  add<<<1, 256>>>(x, tail, n);\n"), "// evo:launch add(x, y, n)");
}

// Of several constants of one declaration some become parameters, and the others stay.
TEST(ImportShapes, ADeclarationKeepsItsOtherConstants) {
  const std::string text = R"(
const int THREADS = 128, STEPS = 4, SHIFT = 3;
__global__ void moved(const float* x, float* y, int n) {
  __shared__ float s[THREADS];
  int i = blockIdx.x * THREADS + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0.0f;
  for (int k = 0; k < STEPS; ++k) s[threadIdx.x] += SHIFT;
  if (i < n) y[i] = s[threadIdx.x];
}
int main() {
  int n = 1 << 20;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  moved<<<(n + THREADS - 1) / THREADS, THREADS>>>(x, y, n);
}
)";
  const std::string kernel = Kernel(Read(text));
  EXPECT_THAT(kernel, testing::HasSubstr("#define THREADS 128"));
  EXPECT_THAT(kernel, testing::HasSubstr("const int STEPS = 4, SHIFT = 3;"));
}

// A grid of as many rows as columns is no product of two of them.
TEST(ImportShapes, GridsOfOneShapeKeepBothSizes) {
  const std::string text = R"(
const int NX = 512;
const int NY = 512;
__global__ void wave(float* next, const float* cur, const float* prev) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= NX || y >= NY) return;
  next[y * NX + x] = 2 * cur[y * NX + x] - prev[y * NX + x];
}
int main() {
  float *a, *b, *c;
  cudaMalloc(&a, NX * NY * sizeof(float));
  cudaMalloc(&b, NX * NY * sizeof(float));
  cudaMalloc(&c, NX * NY * sizeof(float));
  wave<<<dim3(NX / 32, NY / 8), dim3(32, 8)>>>(c, b, a);
}
)";
  EXPECT_THAT(Kernel(Read(text)), testing::HasSubstr("grid(NX / 32, NY / 8)"));
}

// A value and its place are as long as two numbers.
TEST(ImportShapes, StructsOfEqualFieldsAreIntegers) {
  const std::string text = R"(
struct Best {
  float value;
  int place;
};
__global__ void first(const float* x, Best* part, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) part[i].value = x[i], part[i].place = i;
}
__global__ void second(const Best* part, int* y, int n) { y[0] = part[n - 1].place; }
int main() {
  int n = 1 << 20;
  float* x;
  Best* part;
  int* y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&part, n * sizeof(Best));
  cudaMalloc(&y, sizeof(int));
  first<<<(n + 255) / 256, 256>>>(x, part, n);
  second<<<1, 1>>>(part, y, n);
}
)";
  EXPECT_THAT(Kernel(Read(text)), testing::HasSubstr("evo:workspace part i32 [n, 2]"));
}

// Numbers in braces are numbers.
TEST(ImportShapes, BracesAroundANumberDoNotMatter) {
  const std::string text = R"(
constexpr size_t SIZE{ 1024 };
constexpr size_t BLOCK{ 32 };
__global__ void twice(const float* x, float* y) {
  const size_t i{ (blockIdx.y * blockDim.y + threadIdx.y) * SIZE + blockIdx.x * blockDim.x + threadIdx.x };
  y[i] = 2 * x[i];
}
int main() {
  const size_t blocks{ (SIZE + BLOCK - 1) / BLOCK };
  const dim3 grid{ blocks, blocks };
  const dim3 block{ BLOCK, BLOCK };
  float *x, *y;
  cudaMalloc(&x, SIZE * SIZE * sizeof(float));
  cudaMalloc(&y, SIZE * SIZE * sizeof(float));
  twice<<<grid, block>>>(x, y);
}
)";
  EXPECT_THAT(Kernel(Read(text)), HasSubstr("grid(ceil_div(SIZE, BLOCK), ceil_div(SIZE, BLOCK))"));
}

// Loops over a list in their head do the same with each of its elements.
TEST(ImportShapes, ListsOfPointersAreAllocatedOneByOne) {
  const auto program = [](const std::string& allocated) {
    return R"(
__global__ void multiply(const float* x, const float* y, float* z, int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * columns) z[i] = x[i] * y[i];
}
int main() {
  const int rows = 700, columns = 900;
  float *x, *y, *z;
  )" + allocated +
           R"(
  multiply<<<(rows * columns + 255) / 256, 256>>>(x, y, z, rows, columns);
  for (float* p : {x, y, z}) cudaFree(p);
}
)";
  };
  for (const char* allocated : {"for (float** p : {&x, &y, &z}) cudaMalloc(p, rows * columns * sizeof(float));",
                                "for (auto p : {&x, &y, &z}) {\n    cudaMalloc(p, rows * columns * sizeof(float));\n  }"}) {
    const ImportReply reply = Read(program(allocated));
    for (const char* name : {"x", "y", "z"}) EXPECT_EQ(ShapeOf(reply, name), json({"rows", "columns"})) << allocated;
  }
  const ImportReply left = Read(program("for (float** p : {&x, &y, &z}) { if (p == &y) break; cudaMalloc(p, 4096); }"));
  EXPECT_TRUE(QuestionOf(left, "x.shape").unknown);
  const ImportReply changed = Read(program("for (float** p : {&x, &y, &z}) { cudaMalloc(p, 4096); p = nullptr; }"));
  EXPECT_TRUE(QuestionOf(changed, "x.shape").unknown);
}

// Rows with room behind them, and elements of two numbers each whose bytes are those of their numbers.
TEST(ImportShapes, RowsAreAsLongAsTheirElementsAtLeast) {
  const ImportReply reply = Read(R"(
constexpr int kPairs = 64;
__global__ void negate(const float2* x, float2* y, int columns, int stride) {
  for (int i = threadIdx.x; i < columns; i += 32)
    y[blockIdx.x * stride * (kPairs / 2) + i] = make_float2(-x[blockIdx.x * stride * (kPairs / 2) + i].x, 0.0f);
}
int main(int argc, char** argv) {
  int rows = 500, columns = 200, stride = 256;
  if (argc > 1) columns = atoi(argv[1]);
  if (stride < columns) stride = columns;
  float2 *x, *y;
  cudaMalloc(&x, rows * stride * kPairs * sizeof(float));
  cudaMalloc(&y, rows * stride * kPairs * sizeof(float));
  negate<<<rows, 32>>>(x, y, columns, stride);
}
)");
  EXPECT_THAT(Kernel(reply), testing::HasSubstr("negate(x, y, columns, max(stride, columns)) grid(rows)"));
  EXPECT_EQ(ShapeOf(reply, "x"), json({"rows * 32", "max(stride, columns)", 2}));
}

// Integers that choose a place within a row are less than its length, those that choose a row less than the number of rows.
TEST(ImportShapes, IntegersThatChooseAColumnOrARow) {
  const auto generators_with = [](const std::string& element) {
    const ImportReply reply = Read(R"(
__global__ void take(const float* x, const int* which, float* y, int rows, int classes) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* own = x + row * classes;
  const int chosen = which[row];
  y[row] = )" + element + R"(;
}
int main() {
  const int rows = 5000, classes = 64;
  float *x, *y;
  int* which;
  cudaMalloc(&x, rows * classes * sizeof(float));
  cudaMalloc(&which, rows * sizeof(int));
  cudaMalloc(&y, rows * sizeof(float));
  take<<<(rows + 127) / 128, 128>>>(x, which, y, rows, classes);
}
)");
    return ArgumentOf(TaskOf(reply), "which").at("generators");
  };
  for (const char* column : {"own[chosen]", "own[which[row]]", "x[row * classes + chosen]", "x[which[row] + classes * row]"})
    EXPECT_EQ(generators_with(column), json({"index<classes"})) << column;
  for (const char* row : {"x[chosen * classes + row % classes]", "x[which[row] * classes]"})
    EXPECT_EQ(generators_with(row), json({"index<rows"})) << row;
}

// A struct that has a function of the name that containers have for their number of elements.
TEST(ImportShapes, ElementsOfAStructThatKnowsThem) {
  const ImportReply reply = Read(R"(
struct Box {
  int width, height;
  size_t size() const { return (size_t)width * height; }
};
__global__ void negate(const float* x, float* y, Box box) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y;
  if (i < box.width) y[j * box.width + i] = -x[j * box.width + i];
}
int main(int argc, char** argv) {
  Box box;
  box.width = argc > 1 ? atoi(argv[1]) : 640;
  box.height = argc > 2 ? atoi(argv[2]) : 480;
  std::vector<float> host(box.size());
  float *x, *y;
  cudaMalloc(&x, box.size() * sizeof(float));
  cudaMalloc(&y, box.size() * sizeof(float));
  cudaMemcpy(x, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  negate<<<dim3((box.width + 63) / 64, box.height), 64>>>(x, y, box);
}
)");
  EXPECT_EQ(ShapeOf(reply, "x"), json({"width", "height"}));
}

}  // namespace
}  // namespace evo
