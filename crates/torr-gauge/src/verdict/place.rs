//! Places: the function, the lock, the statement or the peer in a service that a factor comes from, as results hold them.

use super::estimate::Estimate;
use serde::{Deserialize, Serialize};

/// What a survey of a server's processes and its statements found while the limiting load ran.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Located {
    /// The places that dominate, the widest first. Empty if none does.
    #[serde(default)]
    pub places: Vec<Place>,
    /// The widest places, at most five, where none dominates.
    #[serde(default)]
    pub widest: Vec<Place>,
    /// What the survey could not see.
    #[serde(default)]
    pub unseen: Vec<Unseen>,
    /// All stacks as one tree, of which branches below 0.5% are left out. `None` if no stack was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stacks: Option<StackNode>,
    /// Throughput while the server was sampled, divided by that of the same load before. 1 means that sampling cost nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<f64>,
}

/// The smallest share of the resource with which a place is named, with 95% confidence.
pub const DOMINANT: f64 = 0.2;

/// The kind of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlaceKind {
    /// A function that takes CPU time.
    Cpu,
    /// A lock that threads wait for.
    Lock,
    /// A function in which threads wait for something other than a lock.
    Wait,
    /// A statement of a database.
    Statement,
    /// A peer that threads wait for.
    Peer,
}

/// What limits throughput once a place's cost is halved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NextLimit {
    /// The CPUs of the server's machine.
    Cpu,
    /// The CPU quota of the server.
    Quota,
    /// The server's thread that does most of its work.
    Thread,
    /// The database's thread that does most of its work.
    Database,
    /// The load generator.
    Generator,
    /// The number of connections, each of which waits for its response.
    Connections,
    /// What a service that does nothing reaches.
    NullService,
}

/// A function in a source file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CodePosition {
    /// The function's name.
    pub function: String,
    /// The source file; `None` where the program does not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, counted from 1; `None` where the program does not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// A place with its share of the resource that limits the service.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// The kind.
    pub kind: PlaceKind,
    /// The place in one sentence. `torr-report` writes it.
    #[serde(default)]
    pub text: String,
    /// The runtime of the process: `native`, `go`, `python` and so on; of a statement the database.
    pub runtime: String,
    /// The number of the process. `None` of a statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<i32>,
    /// The innermost function of the user's own code.
    #[serde(flatten)]
    pub code: Option<CodePosition>,
    /// The library's function that takes most of the share, called by `code`. `None` if it is `code` itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inner: Option<CodePosition>,
    /// The function of the user's own code that calls `code`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<CodePosition>,
    /// The lock's name, or its address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<String>,
    /// The function in which the lock is held, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<Holder>,
    /// The statement; its literals are replaced by `?`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<String>,
    /// How many times the statement runs for one response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_response: Option<f64>,
    /// The table and the columns that an index of the statement would have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_index: Option<MissingIndex>,
    /// The statement that the statement waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<String>,
    /// Whether the statement waits for a transaction that is open while no statement of it runs: its client does something else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blocker_is_idle: bool,
    /// The peer, as an address or a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    /// The share of the resource.
    pub share: Estimate,
    /// The throughput after the place's cost was halved, as a multiple of the measured throughput.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<Estimate>,
    /// What limits throughput then, and so keeps `gain` lower. `None` if nothing else is known to limit it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_limit: Option<NextLimit>,
    /// The number of samples that the share is computed from.
    pub samples: u64,
}

/// What the thread that holds a lock does meanwhile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Holder {
    /// The function that holds the lock.
    #[serde(flatten)]
    pub code: CodePosition,
    /// What the function waits for meanwhile, such as `fsync` or a peer; `None` while it computes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<String>,
    /// The share of the samples with a holder in which it was in this function.
    pub share: f64,
}

/// An index that a statement lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingIndex {
    /// The table.
    pub table: String,
    /// The columns in the statement's condition.
    pub columns: Vec<String>,
}

/// What a survey could not see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unseen {
    /// What is not visible and what would help, in one sentence. `torr-report` writes it.
    #[serde(default)]
    pub text: String,
    /// The name of the process or the peer.
    pub name: String,
    /// Its number; `None` where it concerns no process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<i32>,
    /// The runtime, or the database.
    pub runtime: String,
    /// Why.
    pub why: UnseenReason,
    /// What would make it visible, if anything would.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remedies: Vec<Remedy>,
}

/// Why something is not visible.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the sentence of each reason in torr-report describes it")]
pub enum UnseenReason {
    Stripped,
    CompiledAtRunTime,
    Memory,
    PerformanceEvents,
    Files,
    NeedsRequest,
    NoReader,
    Version(String),
    Encrypted,
    UnixSocket,
    Compressed,
    Multiplexed,
    PreparedBefore,
    NoLogin,
    Packets,
    Ended,
    Tasks,
    Unwinding,
    Failed(String),
}

/// What would make something visible.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the sentence of each remedy in torr-report describes it")]
pub enum Remedy {
    Sysctl { name: String, value: i64 },
    Capability(String),
    SameUser,
    Symbols,
    RuntimeOption(String),
    Ask,
    Login,
    OnItsMachine,
}

/// A node of the tree of stacks: a function below its caller.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StackNode {
    /// The function.
    #[serde(flatten)]
    pub code: CodePosition,
    /// Whether it is the user's own code.
    #[serde(default)]
    pub own: bool,
    /// The weight of the samples in which the function is on the stack at this position.
    pub weight: f64,
    /// The functions that it calls, the heaviest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<StackNode>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_place_is_flat_in_json_and_leaves_out_what_is_unknown() {
        let place = Place {
            kind: PlaceKind::Cpu,
            text: String::new(),
            runtime: "python".into(),
            process: Some(7),
            code: Some(CodePosition { function: "render".into(), file: Some("shop.py".into()), line: Some(12) }),
            inner: None,
            caller: None,
            lock: None,
            holder: None,
            statement: None,
            per_response: None,
            missing_index: None,
            blocked_by: None,
            blocker_is_idle: false,
            peer: None,
            share: Estimate { low: 0.4, value: 0.5, high: 0.6 },
            gain: None,
            next_limit: None,
            samples: 90,
        };
        let written = serde_json::to_value(&place).expect("it has no other keys than text");
        let expected = json!({
            "kind": "cpu", "text": "", "runtime": "python", "process": 7, "function": "render", "file": "shop.py", "line": 12,
            "share": {"low": 0.4, "value": 0.5, "high": 0.6}, "samples": 90,
        });
        assert_eq!(written, expected);
        assert_eq!(serde_json::from_value::<Place>(written).expect("it was written so"), place);
    }
}
