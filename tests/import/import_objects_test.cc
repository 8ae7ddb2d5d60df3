// Objects of the host that own buffers, and values that functions store through pointers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/import/importing.h"

namespace evo {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

// A class that allocates as many elements as the vector has that it is made of.
TEST(ImportObjects, ABufferMadeOfAVector) {
  const ImportReply reply = Read(std::string("#include <vector>\n") + kRows + R"(
class Device {
 public:
  explicit Device(const std::vector<float>& v) : count_(v.size()) { cudaMalloc(&p_, count_ * sizeof(float)); }
  operator float*() { return p_; }
  void get(std::vector<float>& v) { cudaMemcpy(v.data(), p_, count_ * sizeof(float), cudaMemcpyDeviceToHost); }

 private:
  float* p_ = nullptr;
  size_t count_;
};
int main(int argc, char** argv) {
  const int height = argc > 1 ? atoi(argv[1]) : 3000, width = 700;
  std::vector<float> in(height * width, 1.f), out(height);
  Device x(in), y(out);
  rows<<<(height + 127) / 128, 128>>>(x, y, height, width);
  y.get(out);
}
)");
  EXPECT_EQ(ShapeOf(reply, "x"), json({"height", "width"}));
  EXPECT_EQ(ShapeOf(reply, "y"), json({"height"}));
}

// Each object has the sizes of its own call, not those of the first one.
TEST(ImportObjects, ABufferMadeByAFunctionOfItsClass) {
  const ImportReply reply = Read(std::string(kRows) + R"(
class Matrix {
 public:
  Matrix(int rows, int columns) : rows_(rows), columns_(columns) { cudaMalloc(&data_, sizeof(float) * rows * columns); }
  static Matrix of(const float* values, int rows, int columns) {
    Matrix m(rows, columns);
    cudaMemcpy(m.data_, values, sizeof(float) * rows * columns, cudaMemcpyHostToDevice);
    return m;
  }
  float* data() const { return data_; }
  int height() const { return rows_; }
  int width() const { return columns_; }

 private:
  int rows_, columns_;
  float* data_ = nullptr;
};
Matrix sums(const Matrix& a) {
  Matrix b(a.height(), 1);
  rows<<<(a.height() + 127) / 128, 128>>>(a.data(), b.data(), a.height(), a.width());
  return b;
}
int main() {
  const int many = 4000, few = 300;
  float* h = new float[many * few];
  Matrix other = Matrix::of(h, few, 7);
  Matrix a = Matrix::of(h, many, few);
  Matrix b = sums(a);
}
)");
  EXPECT_EQ(ShapeOf(reply, "x"), json({"many", "few"}));
  EXPECT_EQ(ShapeOf(reply, "y"), json({"many"}));
  EXPECT_THAT(Kernel(reply), HasSubstr("rows(x, y, many, few)"));
}

// The constructor leaves it to another function of the class.
TEST(ImportObjects, ABufferThatAMethodAllocates) {
  const ImportReply reply = Read(std::string(kRows) + R"(
template <typename T>
struct Buffer {
  T* ptr = nullptr;
  size_t size = 0;
  explicit Buffer(size_t n) { allocate(n); }
  Buffer(const Buffer& other) = delete;
  void allocate(size_t n) {
    cudaMalloc(reinterpret_cast<void**>(&ptr), n * sizeof(T));
    size = n;
  }
};
int main() {
  int T = 5000, wide = 800;
  Buffer<float> a(T * wide), sums(T);
  rows<<<(T + 127) / 128, 128>>>(a.ptr, sums.ptr, T, wide);
}
)");
  EXPECT_EQ(ShapeOf(reply, "x"), json({"T", "wide"}));
  EXPECT_EQ(ShapeOf(reply, "y"), json({"T"}));
}

TEST(ImportObjects, AStructThatAFunctionFills) {
  const ImportReply reply = Read(std::string(kRows) + R"(
struct Grid { int height, width; float* cells; };
Grid make_grid(int height, int width) {
  Grid g;
  g.height = height;
  g.width = width;
  cudaMalloc(&g.cells, g.height * g.width * sizeof(float));
  return g;
}
int main() {
  int tall = 5000, wide = 800;
  Grid sums = make_grid(tall, 1), a = make_grid(tall, wide);
  rows<<<(tall + 127) / 128, 128>>>(a.cells, sums.cells, a.height, a.width);
}
)");
  EXPECT_EQ(ShapeOf(reply, "x"), json({"tall", "wide"}));
  EXPECT_EQ(ShapeOf(reply, "y"), json({"tall"}));
}

// Rows of a pitched allocation have no padding in the task.
TEST(ImportObjects, PitchedRows) {
  const ImportReply reply = Read(R"(
__global__ void rows(const float* x, size_t pitch, float* y, int height, int width) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= height) return;
  const float* row = (const float*)((const char*)x + r * pitch);
  float sum = 0.f;
  for (int c = 0; c < width; ++c) sum += row[c];
  y[r] = sum;
}
int main() {
  int height = 3000, width = 700;
  float *x, *y;
  size_t pitch;
  cudaMallocPitch(&x, &pitch, width * sizeof(float), height);
  cudaMalloc(&y, height * sizeof(float));
  rows<<<(height + 127) / 128, 128>>>(x, pitch, y, height, width);
}
)");
  EXPECT_EQ(ShapeOf(reply, "x"), json({"height", "width"}));
  EXPECT_THAT(Kernel(reply), HasSubstr("rows(x, u64(width * 4), y, height, width)"));
  EXPECT_THAT(reply.notes, Contains(HasSubstr("rows of x have no padding")));
}

TEST(ImportObjects, NumbersOfAnEnum) {
  const ImportReply reply = Read(R"(
enum Channel { RED, GREEN, BLUE = 4, MAX_CHANNELS };
__global__ void means(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int c = 0; c < MAX_CHANNELS; ++c) y[i * MAX_CHANNELS + c] = 2.f * x[i * MAX_CHANNELS + c];
}
int main() {
  int n = 1 << 20;
  float *x, *y;
  cudaMalloc(&x, n * MAX_CHANNELS * sizeof(float));
  cudaMalloc(&y, n * MAX_CHANNELS * sizeof(float));
  means<<<(n + 127) / 128, 128>>>(x, y, n);
}
)");
  EXPECT_EQ(ShapeOf(reply, "x"), json({"n * 5"}));
}

// `n` of one function is the length of a vector that is made of the `n` of another.
TEST(ImportObjects, ALengthOfTheSameName) {
  const ImportReply reply = Read(R"(
#include <vector>
template <int kScale>
__global__ void scale(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = kScale * x[i];
}
template <int kScale>
void run(const std::vector<float>& h) {
  const int n = (int)h.size();
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  scale<kScale><<<(n + 127) / 128, 128>>>(x, y, n);
}
int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 2000011;
  std::vector<float> h(n);
  run<3>(h);
}
)");
  const std::string size = ShapeOf(reply, "x").at(0);
  EXPECT_EQ(QuestionOf(reply, size).guess, "2000011");
  EXPECT_THAT(Kernel(reply), HasSubstr("scale<3>(x, y, " + size + ")"));
}

// What `= 0` declares and a function sets by its address is no 0.
TEST(ImportObjects, SizesThatAFunctionReads) {
  const ImportReply reply = Read(std::string(kRows) + R"(
int load(const char* path, float** values, int* width, int* height, size_t* count) {
  scanf("%d %d", width, height);
  *count = (size_t)(*width) * (*height);
  *values = (float*)malloc(*count * sizeof(float));
  return 0;
}
int main(int argc, char** argv) {
  int width = 0, height = 0;
  size_t count = 0;
  float *h = nullptr, *x, *y;
  load(argv[1], &h, &width, &height, &count);
  cudaMalloc(&x, count * sizeof(float));
  cudaMalloc(&y, height * sizeof(float));
  rows<<<(height + 127) / 128, 128>>>(x, y, height, width);
}
)");
  EXPECT_EQ(ShapeOf(reply, "x"), json({"height", "width"}));
  EXPECT_TRUE(QuestionOf(reply, "width").unknown);
  EXPECT_THAT(Kernel(reply), HasSubstr("rows(x, y, height, width) grid(ceil_div(height, "));
}

// A filter whose width nothing says is not as wide as a matrix, and every argument of every case has elements.
TEST(ImportObjects, AWindowOfUnknownWidth) {
  const ImportReply reply = Read(R"(
__global__ void slide(const float* x, const float* w, float* y, int n, int K) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n - K + 1) return;
  float sum = 0.f;
  for (int k = 0; k < K; ++k) sum += x[i + k] * w[k];
  y[i] = sum;
}
int main(int argc, char** argv) {
  int n, K;
  scanf("%d %d", &n, &K);
  float *x, *w, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&w, K * sizeof(float));
  cudaMalloc(&y, (n - K + 1) * sizeof(float));
  slide<<<(n + 127) / 128, 128>>>(x, w, y, n, K);
}
)");
  EXPECT_EQ(QuestionOf(reply, "K").guess, "5");
  EXPECT_EQ(QuestionOf(reply, "n").guess, "1024");
}

// The radius of a filter likewise, and an element adds up all that is around it.
TEST(ImportObjects, ARadiusOfUnknownLength) {
  const ImportReply reply = Read(R"(
__global__ void around(const float* in, const float* taps, float* out, int height, int width, int radius) {
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (y >= height || x >= width) return;
  float sum = 0.f;
  for (int v = y - radius; v <= y + radius; ++v)
    for (int u = x - radius; u <= x + radius; ++u)
      if (v >= 0 && v < height && u >= 0 && u < width)
        sum += in[v * width + u] * taps[(v - y + radius) * (2 * radius + 1) + u - x + radius];
  out[y * width + x] = sum;
}
void run(const float* image, int height, int width, int radius) {
  float *in, *taps, *out;
  cudaMalloc(&in, height * width * sizeof(float));
  cudaMalloc(&taps, (2 * radius + 1) * (2 * radius + 1) * sizeof(float));
  cudaMalloc(&out, height * width * sizeof(float));
  dim3 block(16, 16), grid((width + 15) / 16, (height + 15) / 16);
  around<<<grid, block>>>(in, taps, out, height, width, radius);
}
)");
  EXPECT_EQ(QuestionOf(reply, "radius").guess, "5");
  EXPECT_EQ(ArgumentOf(TaskOf(reply), "out").at("check").at("sum"), "(radius + radius + 1) * (radius + radius + 1)");
}

}  // namespace
}  // namespace evo
