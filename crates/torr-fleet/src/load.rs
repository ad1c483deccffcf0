//! A load that several machines carry out together, and all files that it names.

use crate::limits::{MOST_BYTES, PART};
use crate::message::{Digest, FilePart, LoadMessage};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use torr_press::request::part_of_records;

/// A load with its files. Its settings, variables and secrets may hold secrets.
#[derive(Clone, Default)]
pub struct LoadAndFiles {
    /// The load as JSON, without its outputs. The program around the fleet gives it its meaning.
    pub load: Value,
    /// The files that the load names, and files that those name, by the paths that they have there.
    pub files: BTreeMap<String, Arc<[u8]>>,
    /// The path of the file among them whose records the agents share, if there is one.
    pub records: Option<String>,
    /// The variables that each session begins with.
    pub variables: BTreeMap<String, Value>,
    /// Values that no output shows.
    pub secrets: Vec<String>,
}

/// A load as one agent has it: the message, and the files by their digests.
#[derive(Clone, Default)]
pub(crate) struct AgentLoad {
    pub message: LoadMessage,
    pub files: BTreeMap<Digest, Arc<[u8]>>,
    /// The bytes of all files by their paths.
    bytes: usize,
}

impl LoadAndFiles {
    /// Returns the load of each of so many agents: all have the same, but for records of their own.
    ///
    /// # Errors
    /// In one line, if there are fewer records than agents, or more bytes than agents take.
    pub(crate) fn of_agents(&self, agents: usize) -> Result<Vec<AgentLoad>, String> {
        let records = self.records.as_ref().and_then(|path| self.files.get_key_value(path));
        let is_shared = |path: &String| records.is_none_or(|(records, _)| path != records);
        let mut common = AgentLoad::default();
        self.files.iter().filter(|(path, _)| is_shared(path)).for_each(|(path, content)| common.add(path, content));
        common.message.load.clone_from(&self.load);
        common.message.variables.clone_from(&self.variables);
        common.message.secrets.clone_from(&self.secrets);
        let load = |number| {
            let mut load = common.clone();
            if let Some((path, content)) = records {
                let own =
                    part_of_records(Path::new(path), content, number, agents).map_err(|error| error.to_string())?;
                load.add(path, &own.into());
            }
            if load.bytes > MOST_BYTES {
                let (has, most) = (load.bytes >> 20, MOST_BYTES >> 20);
                return Err(format!("the load's files have {has} MiB, but agents can store at most {most} MiB"));
            }
            Ok(load)
        };
        (0..agents).map(load).collect()
    }
}

impl AgentLoad {
    fn add(&mut self, path: &str, content: &Arc<[u8]>) {
        let digest = Digest::of(content);
        self.bytes += content.len();
        self.message.files.insert(path.to_owned(), digest.clone());
        self.files.insert(digest, Arc::clone(content));
    }
}

/// Returns the parts of a file, at least one.
pub(crate) fn parts<'c>(digest: &'c Digest, content: &'c [u8]) -> impl Iterator<Item = FilePart> + 'c {
    let count = content.len().div_ceil(PART).max(1);
    (0..count).map(move |part| {
        let bytes = &content[part * PART..content.len().min((part + 1) * PART)];
        let last = part + 1 == count;
        FilePart { digest: digest.clone(), part: part as u64, last, content: BASE64_STANDARD.encode(bytes) }
    })
}

/// Returns the bytes of a part.
///
/// # Errors
/// In one line, if it is no base64.
pub(crate) fn bytes(part: &FilePart) -> Result<Vec<u8>, String> {
    BASE64_STANDARD.decode(&part.content).map_err(|error| format!("a part of a file is not base64: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_have_all_files_and_records_of_their_own() {
        let file = |text: &str| Arc::from(text.as_bytes());
        let files = [("a.hurl", "GET http://a"), ("b.hurl", "GET http://a"), ("users.csv", "name\nAda\nBob\nCleo\n")];
        let files = files.map(|(path, text)| (path.to_owned(), file(text))).into();
        let load = LoadAndFiles { files, records: Some("users.csv".into()), ..LoadAndFiles::default() };
        let text = |number: usize, path: &str| {
            let agents = load.of_agents(2).expect("there are records for all");
            let agent = &agents[number];
            String::from_utf8(agent.files[&agent.message.files[path]].to_vec()).expect("it is text")
        };
        assert_eq!([text(0, "users.csv"), text(1, "users.csv")], ["name\nAda\nCleo\n", "name\nBob\n"]);
        assert_eq!(text(1, "b.hurl"), "GET http://a");
        assert_eq!(load.of_agents(2).map(|agents| agents[0].files.len()), Ok(2), "equal files travel once");
        assert!(load.of_agents(4).is_err_and(|why| why.contains("users.csv") && why.contains("4 agents")));
    }

    #[test]
    fn a_load_that_no_agent_could_hold_is_refused() {
        let files = [("big".to_owned(), vec![0; MOST_BYTES + 1].into())].into();
        let refused = LoadAndFiles { files, ..LoadAndFiles::default() }.of_agents(1).err();
        assert!(refused.is_some_and(|why| why.contains("64 MiB")));
    }

    #[test]
    fn parts_are_the_whole() {
        for length in [0, 1, PART, PART + 1, 3 * PART] {
            let content: Vec<u8> = (0..length).map(|at| at as u8).collect();
            let digest = Digest::of(&content);
            let parts: Vec<_> = parts(&digest, &content).collect();
            assert!(parts.iter().rev().skip(1).all(|part| !part.last) && parts.last().is_some_and(|part| part.last));
            let whole: Vec<u8> = parts.iter().flat_map(|part| bytes(part).expect("it is base64")).collect();
            assert_eq!(whole, content);
        }
    }
}
