//! What a survey cannot see, why, and what would make it visible.

use serde::{Deserialize, Serialize};

/// A runtime that programs are written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Runtime {
    /// Machine code: C, C++, Rust and others.
    Native,
    /// Go.
    Go,
    /// `CPython`.
    Python,
    /// A Java virtual machine.
    Jvm,
    /// Node.js.
    Node,
    /// PHP, as FPM or as a program.
    Php,
    /// Ruby.
    Ruby,
    /// .NET.
    DotNet,
    /// The Erlang virtual machine.
    Beam,
    /// A database, whose statements are read.
    Database,
}

/// Why something is not visible.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "why")]
pub enum Why {
    /// The program has no symbols.
    Stripped,
    /// A just-in-time compiler made the code, and no map of it exists.
    CompiledAtRunTime,
    /// The process's memory cannot be read.
    Memory,
    /// The kernel does not permit performance events of the process.
    PerformanceEvents,
    /// The process's files are not reachable, in another mount namespace.
    Files,
    /// The runtime shows its stacks only to a request, which was not permitted.
    NeedsRequest,
    /// The runtime's version is not known to the reader.
    Version {
        /// The version that was found, or what stands for it.
        found: String,
    },
    /// Statements are encrypted, or travel where they are not recorded.
    Encrypted,
    /// The connection to the database is compressed.
    Compressed,
    /// Responses of the database do not follow the order of its requests, as behind a subscription.
    Multiplexed,
    /// Statements were prepared before they were recorded, so that only their calls have been seen.
    PreparedBefore,
    /// There is no login for the database.
    NoLogin,
    /// Packets cannot be recorded.
    Packets,
    /// The process ended or was replaced during the survey.
    Ended,
    /// Tasks of an asynchronous runtime wait in no thread.
    Tasks,
    /// The stacks could not be followed to their end.
    Unwinding,
    /// The reader failed: the system's or the protocol's message.
    Failed {
        /// The message.
        message: String,
    },
}

/// What would make something visible.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "remedy")]
pub enum Remedy {
    /// Set this sysctl to this value.
    Sysctl {
        /// The name, such as `kernel.perf_event_paranoid`.
        name: String,
        /// The value to set.
        value: i64,
    },
    /// Give Torr this capability, or start it as root.
    Capability {
        /// The name, such as `CAP_SYS_PTRACE`.
        name: String,
    },
    /// Start Torr as the user of the process.
    SameUser,
    /// Build the program with symbols.
    Symbols,
    /// Start the runtime with this option.
    RuntimeOption {
        /// The option as one writes it.
        option: String,
    },
    /// Permit Torr to ask the process (`--ask`).
    Ask,
    /// Give Torr a login of the database (`--database-url`).
    Login,
    /// Start Torr on the service's machine (`torr watch --where`).
    OnItsMachine,
}

/// Something that a survey could not see.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Unseen {
    /// The process, or 0 where it concerns none.
    pub process: i32,
    /// The process's name, or that of the peer.
    pub name: String,
    /// The runtime.
    pub runtime: Runtime,
    /// Why it is not visible.
    #[serde(flatten)]
    pub why: Why,
    /// What would make it visible, if anything would.
    pub remedies: Vec<Remedy>,
}
