//! Cases: subjects as others get them, by an id that does not give the fault away, with the load in words that any tool understands.

use crate::environment::Environment;
use crate::subject::Subject;
use serde::Serialize;

/// The connections of a load that names none, as `torr` has it.
const CONNECTIONS: u32 = 100;

/// A subject that is up, as another tool gets it.
#[derive(Debug, Serialize)]
pub struct Case {
    /// The version of this layout.
    pub schema: &'static str,
    /// The id.
    pub case: String,
    /// The URL to load.
    pub url: String,
    /// The load that the diagnosis is to be about.
    pub load: Load,
    /// The words that start the load generator in its position: a network namespace, a quota, a CPU. Empty where it may run anywhere.
    pub within: Vec<String>,
}

/// A load.
#[derive(Debug, PartialEq, Serialize)]
pub struct Load {
    /// Connections at a time, each with one request in flight.
    pub connections: u32,
    /// Whether connections are kept for further requests.
    pub keep_alive: bool,
    /// Requests per second; `None` for a closed loop.
    pub rate: Option<f64>,
    /// The Unix socket to connect to, in the case's folder; `None` for the URL's address.
    pub unix_socket: Option<String>,
    /// The arguments of `torr` that mean all of this, and what has no field here.
    pub arguments: Vec<String>,
}

impl Case {
    /// Returns the description of a subject that is up.
    pub fn new(subject: &Subject, arguments: &[&str], url: String, environment: &Environment) -> Self {
        // Relative paths of arguments are those of the subject's folder.
        let absolute = |socket: &str| environment.folder().join(socket).display().to_string();
        let socket = arguments.iter().position(|argument| *argument == "--unix-socket").map(|at| at + 1);
        let with_socket = arguments.iter().zip(0..).map(|(argument, at)| match socket == Some(at) {
            true => absolute(argument),
            false => (*argument).to_owned(),
        });
        let arguments: Vec<String> = with_socket.collect();
        let load = Load::of(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        Self { schema: "torr.clinic.case/1", case: id(subject.name), url, load, within: environment.generator.words() }
    }
}

impl Load {
    /// Reads the arguments of `torr`.
    pub fn of(arguments: &[&str]) -> Self {
        let value = |name: &str| {
            let at = arguments.iter().position(|argument| *argument == name)?;
            arguments.get(at + 1).copied()
        };
        Self {
            connections: value("-c").and_then(|many| many.parse().ok()).unwrap_or(CONNECTIONS),
            keep_alive: !arguments.contains(&"--no-keepalive"),
            rate: value("-r").and_then(|rate| rate.parse().ok()),
            unix_socket: value("--unix-socket").map(str::to_owned),
            arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
        }
    }
}

/// Returns the id of a subject: six digits that depend on its name alone (FNV-1a), so that a longer list changes none.
pub fn id(name: &str) -> String {
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{:06x}", (hash ^ (hash >> 24)) & 0xff_ffff)
}

/// Returns the subject with an id or a name.
pub fn find<'s>(subjects: &'s [Subject], case: &str) -> Option<&'s Subject> {
    subjects.iter().find(|subject| subject.name == case || id(subject.name) == case)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subjects;
    use std::collections::BTreeSet;

    #[test]
    fn each_subject_has_an_id_of_its_own() {
        let subjects = subjects::all();
        let ids: BTreeSet<_> = subjects.iter().map(|subject| id(subject.name)).collect();
        assert_eq!(ids.len(), subjects.len());
        let first = &subjects[0];
        assert_eq!(find(&subjects, &id(first.name)).map(|subject| subject.name), Some(first.name));
        assert!(find(&subjects, "none").is_none());
    }

    #[test]
    fn arguments_become_a_load() {
        let load = Load::of(&["-c", "20", "--no-keepalive", "-r", "6", "--unix-socket", "service.sock"]);
        assert_eq!((load.connections, load.keep_alive, load.rate), (20, false, Some(6.0)));
        assert_eq!(load.unix_socket.as_deref(), Some("service.sock"));
        let usual = Load::of(&[]);
        assert_eq!((usual.connections, usual.keep_alive, usual.rate), (100, true, None));
    }
}
