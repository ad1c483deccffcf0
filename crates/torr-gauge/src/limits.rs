//! The bounds of numbers that command lines, plan files and configurations give.

/// The largest number of connections, since more cannot be had from one machine.
pub const MOST_CONNECTIONS: u64 = 1_000_000;
/// The largest number of threads, and of the CPUs of a machine: more than any machine has.
pub const MOST_THREADS: u64 = 4096;
/// The largest number of requests: a million per second for 30 years. Sums of it are exact as numbers of JSON.
pub const MOST_REQUESTS: u64 = 1_000_000_000_000_000;
/// The largest number of requests per second, one each nanosecond.
pub const MOST_RATE: f64 = 1e9;
/// The least number of requests per second above 0, one in eleven days.
pub const LEAST_RATE: f64 = 1e-6;
/// The longest duration in seconds: ten years, of which the nanoseconds fit 64 bits many times.
pub const MOST_SECONDS: u64 = 10 * 365 * 86_400;
/// The largest number of agents of a fleet: the sums of what so many report fit 64 bits ([`crate::bounds`]).
pub const MOST_AGENTS: u64 = 1024;
/// The largest number of repetitions of a measurement.
pub const MOST_ROUNDS: u64 = 10_000;
