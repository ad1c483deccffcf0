//! `k6`: check, group, sleep, fail, randomSeed.
