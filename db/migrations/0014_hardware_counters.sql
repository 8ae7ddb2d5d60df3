-- Version 14: what the GPU's own counters say of a champion candidate and of the baseline, and where the candidate's warps wait.

-- Why something of both is missing, where that was tried. Empty before this version.
ALTER TABLE champion_check ADD COLUMN not_counted TEXT NOT NULL DEFAULT '';

-- One row a program. Shares are of the peak over the whole time, 0 to 1; NULL: this GPU does not count it.
CREATE TABLE hardware_counters (
  champion_check  INTEGER NOT NULL REFERENCES champion_check (champion_check) ON DELETE CASCADE,
  program         TEXT NOT NULL CHECK (program IN ('candidate', 'baseline')),
  case_name       TEXT NOT NULL,   -- the case that it ran on
  counted_ns      REAL,            -- with the clocks as they were while it was counted
  dram            REAL,            -- bandwidth of the device's memory
  l2              REAL,            -- bandwidth of L2
  l1              REAL,            -- wavefronts of L1 and shared memory
  tensor          REAL,            -- cycles in which tensor cores are active
  fma             REAL,            -- instructions of the pipe for float multiply-adds
  alu             REAL,            -- of the pipe for integers and logic
  xu              REAL,            -- of the pipe for special functions and conversions
  lsu             REAL,            -- of the pipe for loads and stores
  issue           REAL,            -- issue slots that issue an instruction
  active_warps    REAL,            -- of those that a multiprocessor can hold
  bank_conflicts  REAL,            -- of the wavefronts of shared memory, those that conflicts add
  -- Of the time that warps are there, what they wait for:
  wait_memory     REAL,            -- a value from global or local memory
  wait_shared     REAL,            -- a value from shared memory or the pipe for special functions
  wait_barrier    REAL,            -- the other warps of the block
  wait_math       REAL,            -- an arithmetic pipe that is busy
  wait_queue      REAL,            -- the queue to shared memory and special functions
  wait_load_queue REAL,            -- the queue to global and local memory
  wait_fixed      REAL,            -- the fixed latency of the instruction before
  PRIMARY KEY (champion_check, program)
) STRICT;

-- Lines of a champion candidate's source at which its warps were found most often.
CREATE TABLE stall_line (
  champion_check INTEGER NOT NULL REFERENCES champion_check (champion_check) ON DELETE CASCADE,
  position       INTEGER NOT NULL,   -- 0: the line with the most
  line           INTEGER NOT NULL,   -- of the rendered source, counted from 1
  share          REAL NOT NULL,      -- of the time of all warps, 0 to 1
  waits_for      TEXT NOT NULL,      -- what warps wait for there most of that time, such as 'global memory'
  code           TEXT NOT NULL,      -- the line
  PRIMARY KEY (champion_check, position)
) STRICT;
