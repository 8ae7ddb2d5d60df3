-- Version 6: how much the time of a would-be champion depends on its inputs.

-- Time on the legal inputs of the search cases that take it longest, over that on those that are timed; NULL: not measured.
ALTER TABLE champion_check ADD COLUMN slowest_ratio REAL;
-- Which these are: 'case r4096_c1024, generator 3'; generators are counted as task.json lists them, the timed one is 0.
ALTER TABLE champion_check ADD COLUMN slowest_inputs TEXT NOT NULL DEFAULT '';
