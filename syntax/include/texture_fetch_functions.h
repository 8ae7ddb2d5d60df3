// clang's CUDA wrapper includes this header, which toolkit 13 no longer has.
