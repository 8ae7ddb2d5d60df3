// CUDA 13 no longer has this header, but clang 16 still includes it. Empty on purpose, since textures are not used.
