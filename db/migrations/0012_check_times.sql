-- Version 12: how long the parts of a champion's check took.

-- Seconds, as in 'inputs 2.1, listed cases 3.0, search 20.0'. Empty before this version.
ALTER TABLE champion_check ADD COLUMN took TEXT NOT NULL DEFAULT '';
