//! Other files that a description refers to: each is read once, and all references are made to name their file in full.

use crate::node::{LARGEST, Node};
use percent_encoding::percent_decode_str;
use std::collections::BTreeMap;

/// Reads a file by its path relative to the description, or says why it cannot be read.
pub type ReadFile<'r> = &'r dyn Fn(&str) -> Result<String, String>;

/// The files beside a description, by their path relative to it.
#[derive(Debug, Default)]
pub(super) struct Others {
    documents: BTreeMap<String, Node>,
    /// Why a file was not read.
    refused: BTreeMap<String, String>,
}

impl Others {
    /// Reads all files that a description refers to, and those that they refer to.
    pub(super) fn load(root: &mut Node, read: ReadFile<'_>) -> Self {
        let mut others = Self::default();
        let mut names = Vec::new();
        complete(root, "", &mut names);
        let mut left = LARGEST;
        while let Some(name) = names.pop() {
            if others.documents.contains_key(&name) || others.refused.contains_key(&name) {
                continue;
            }
            match read_one(&name, read, &mut left) {
                Ok(mut document) => {
                    complete(&mut document, &name, &mut names);
                    others.documents.insert(name, document);
                }
                Err(reason) => _ = others.refused.insert(name, reason),
            }
        }
        others
    }

    /// Returns the content of a file that was read.
    pub(super) fn get(&self, name: &str) -> Option<&Node> {
        self.documents.get(name)
    }

    /// Returns why a reference has no target.
    pub(super) fn reason(&self, reference: &str) -> &str {
        let (file, _) = reference.split_once('#').unwrap_or((reference, ""));
        if is_address(file) {
            return "other servers are not contacted";
        }
        self.refused.get(file).map_or("no such target", String::as_str)
    }
}

fn read_one(name: &str, read: ReadFile<'_>, left: &mut usize) -> Result<Node, String> {
    if name.starts_with('/') || name.contains(':') {
        return Err("the path must be relative".to_owned());
    }
    if ![".json", ".yaml", ".yml"].iter().any(|end| name.to_ascii_lowercase().ends_with(end)) {
        return Err("the file name must end in .json, .yaml or .yml".to_owned());
    }
    let text = read(name)?;
    *left = left.checked_sub(text.len()).ok_or("the files are larger than 64 MiB in total")?;
    Node::read(&text, "part of a description", true).map_err(|error| error.to_string())
}

fn is_address(file: &str) -> bool {
    file.contains("://")
}

/// Makes the references within a file name their file, and adds the names of other files.
fn complete(node: &mut Node, own: &str, names: &mut Vec<String>) {
    match node {
        Node::List(items) => items.iter_mut().for_each(|item| complete(item, own, names)),
        Node::Object(members) => {
            for (name, value) in members {
                match value {
                    Node::Text(reference) if name == "$ref" => complete_reference(reference, own, names),
                    value => complete(value, own, names),
                }
            }
        }
        _ => {}
    }
}

fn complete_reference(reference: &mut String, own: &str, names: &mut Vec<String>) {
    let (file, pointer) = reference.split_once('#').unwrap_or((reference, ""));
    if is_address(file) || file.is_empty() && own.is_empty() {
        return;
    }
    let name =
        if file.is_empty() { own.to_owned() } else { joined(own, &percent_decode_str(file).decode_utf8_lossy()) };
    *reference = format!("{name}#{pointer}");
    // The description itself may be named too, but under which name it was given is not known here.
    names.push(name);
}

/// Returns the path of a file that another one names.
fn joined(from: &str, to: &str) -> String {
    if to.starts_with('/') {
        return to.to_owned();
    }
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut steps: Vec<&str> = Vec::new();
    for step in folder.split('/').chain(to.split('/')) {
        match step {
            "" | "." => {}
            ".." if steps.last().is_some_and(|last| *last != "..") => _ = steps.pop(),
            step => steps.push(step),
        }
    }
    steps.join("/")
}
