// Places of the flags that are set, and how many there are.
// buffers: F u8<2 in [N], P i32 out [N], C i32 out [1]
// sizes: N=1; N=300; N=5003
// evo:launch places(F, P, C, N) grid(1) block(256)

#define STRIP 256

__global__ void places(const unsigned char* flag, int* place, int* number, int n) {
  __shared__ int s[STRIP];
  const int t = threadIdx.x;
  int so_far = 0;
  for (int first = 0; first < n; first += STRIP) {
    const int i = first + t;
    const int own = i < n ? flag[i] : 0;
    s[t] = own;
    __syncthreads();
    for (int d = 1; d < STRIP; d <<= 1) {
      const int left = t >= d ? s[t - d] : 0;
      __syncthreads();
      s[t] += left;
      __syncthreads();
    }
    if (i < n) place[i] = so_far + s[t] - own;
    so_far += s[STRIP - 1];
    __syncthreads();
  }
  if (t == 0) *number = so_far;
}
