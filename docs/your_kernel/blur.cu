// Blurs an image: every pixel becomes the mean of the square around it.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define RADIUS 3
#define BLOCK 16

__global__ void blur(const float* image, float* result, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  for (int dy = -RADIUS; dy <= RADIUS; ++dy) {
    for (int dx = -RADIUS; dx <= RADIUS; ++dx) {
      int row = min(max(y + dy, 0), height - 1);  // beyond the edge: the pixel at the edge
      int column = min(max(x + dx, 0), width - 1);
      sum += image[row * width + column];
    }
  }
  result[y * width + x] = sum / ((2 * RADIUS + 1) * (2 * RADIUS + 1));
}

int main() {
  const int width = 4096, height = 4096;
  const size_t bytes = sizeof(float) * width * height;
  std::vector<float> host(width * height);
  for (float& pixel : host) pixel = rand() / float(RAND_MAX);
  float *image, *result;
  cudaMalloc(&image, bytes);
  cudaMalloc(&result, bytes);
  cudaMemcpy(image, host.data(), bytes, cudaMemcpyHostToDevice);
  dim3 threads(BLOCK, BLOCK);
  dim3 blocks((width + threads.x - 1) / threads.x, (height + threads.y - 1) / threads.y);
  blur<<<blocks, threads>>>(image, result, width, height);
  cudaMemcpy(host.data(), result, bytes, cudaMemcpyDeviceToHost);
  printf("%s; the pixel in the middle: %f\n", cudaGetErrorString(cudaGetLastError()), host[host.size() / 2 + width / 2]);
  cudaFree(image);
  cudaFree(result);
}
