-- Time on contents that no launch has seen over time on contents that repeat, relative to the baseline's.
ALTER TABLE champion_check ADD COLUMN fresh_ratio REAL;
