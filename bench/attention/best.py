"""The templates to compare, and their parameters, for each shape (B, H, S, D, causal or the other kinds): those of docs/attention.md."""
MMA_64 = ("mma", "BLOCK_M=128,BLOCK_N=64,WARP_ROWS=32,STAGES=2,QUERY_IN_REGISTERS=1,MIN_BLOCKS=2")
MMA_128 = ("mma", "BLOCK_M=64,BLOCK_N=64,WARP_ROWS=16,STAGES=2,QUERY_IN_REGISTERS=1,MIN_BLOCKS=2")
WGMMA = ("wgmma", "")
WGMMA_SMALL = ("wgmma", "BLOCK_M=128,EQUAL_SHARES=0,RESIDENT=1000000")
WGMMA_SPLIT = ("wgmma_split", "")
WGMMA_SHORT = ("wgmma_short", "")
SPLIT = ("mma_split", "BLOCK_M=32,WARP_ROWS=16,WARPS=8,PART=64,PARTS=2")

BEST = {
    (1, 8, 512, 64, False): [MMA_64, SPLIT, WGMMA_SPLIT],
    (1, 8, 512, 64, True): [MMA_64, SPLIT, WGMMA_SPLIT],
    (4, 8, 512, 64, False): [MMA_64, WGMMA_SMALL, WGMMA_SHORT],
    (16, 16, 1024, 64, False): [MMA_64, WGMMA],
    (4, 16, 2048, 64, False): [MMA_64, WGMMA],
    (4, 16, 4096, 128, False): [MMA_128, WGMMA],
    (4, 16, 4096, 128, True): [MMA_128, WGMMA],
    (4, 16, 2048, 64, "bf16"): [MMA_64, WGMMA],
    (2, 32, 1024, 128, "gqa"): [MMA_128, WGMMA],
}

# The other rungs of the ladder, for progression.py; found with its --tune.
LADDER = {
    (1, 8, 512, 64, False): [("tiled", "BLOCK_M=32,BLOCK_N=32,ROW_THREADS=8,UNROLL=8"), ("wmma", "BLOCK_N=128,WARPS=8,CHUNK=32"),
                             ("wgmma", "BLOCK_M=64,EQUAL_SHARES=0,RESIDENT=1000000")],
}
