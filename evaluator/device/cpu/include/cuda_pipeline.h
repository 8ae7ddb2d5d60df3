#pragma once

// Asynchronous copies on the cpu device: done at once.
inline void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zero_fill = 0) {
  std::memcpy(to, from, bytes - zero_fill);
  std::memset(static_cast<char*>(to) + bytes - zero_fill, 0, zero_fill);
}
inline void __pipeline_commit() {}
inline void __pipeline_wait_prior(size_t) {}
