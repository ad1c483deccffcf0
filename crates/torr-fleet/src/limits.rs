//! The limits of what agents and coordinators take from each other, as `PROTOCOL.md` lists them.

use std::time::Duration;
use torr_gauge::bounds::LONGEST_S;
use torr_gauge::limits;

/// The limit of a message in bytes. NATS itself takes 1 MiB, or what its configuration says.
pub(crate) const MOST_MESSAGE: usize = 8 << 20;
/// The limit of the agents of a fleet.
pub(crate) const MOST_AGENTS: usize = limits::MOST_AGENTS as usize;
/// The limit of the targets that an agent lists.
pub(crate) const MOST_RULES: usize = 1000;
/// The limits of a ceiling in requests per second: those of a rate, and the least that is a share of a load.
pub const CEILINGS: (f64, f64) = (1e-3, limits::MOST_RATE);
/// The least part of a load: that of the lowest ceiling among the highest ones.
pub(crate) const LEAST_PART: f64 = 1e-16;
/// The limit of an agent's connections, and of the virtual users of all.
pub(crate) const MOST_CONNECTIONS: usize = limits::MOST_CONNECTIONS as usize;
/// The limit of the words, the variables and the secrets of a load.
pub(crate) const MOST_WORDS: usize = 100_000;
/// The limit of the files of a load.
pub(crate) const MOST_FILES: usize = 10_000;
/// The limit of a path in bytes: that of Linux.
pub(crate) const MOST_PATH: usize = 4096;
/// The limit of a time of a clock in nanoseconds: 146 years after a machine was started.
pub(crate) const MOST_NS: u64 = 1 << 62;
/// The number of intervals that an agent keeps for its coordinator, an hour of them, and the limit of those that are sent again at
/// once.
pub(crate) const MOST_KEPT: usize = 3600;
/// The limit of intervals: those of the longest run, and one in which it ends.
pub(crate) const MOST_INTERVALS: u64 = LONGEST_S + 1;
/// The limit of entries of sessions.
pub(crate) const MOST_ENTRIES: u64 = 100_000;
/// The limit of the origins of an entry.
pub(crate) const MOST_ORIGINS: usize = 1000;
/// The limit of an agent's threads, and of its CPUs.
pub(crate) const MOST_THREADS: usize = limits::MOST_THREADS as usize;
/// The limit of the findings of an agent; there are eleven criteria.
pub(crate) const MOST_FINDINGS: usize = 64;

/// The longest run of a fleet.
pub(crate) const LONGEST: Duration = Duration::from_secs(LONGEST_S);
/// The size of a part of a file in bytes. In base64 it is well below what NATS takes as one message, 1 MiB by default.
pub(crate) const PART: usize = 512 * 1024;

/// The limit of all files of a load in bytes: agents hold them in memory.
pub(crate) const MOST_BYTES: usize = 64 << 20;
