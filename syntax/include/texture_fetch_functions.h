// CUDA 13 no longer has this header; clang 16 still includes it. Empty on purpose: textures are not used.
