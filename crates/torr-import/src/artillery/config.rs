//! The part `config` of a script, with one of its environments.

use super::function;
use super::payload::{self, Records};
use super::text::{self, Part};
use super::value;
use crate::draft::{ImportError, LeftOut};
use crate::node::Node;
use crate::parts::push;
use crate::reason::FUNCTION;
use crate::variables::of_environment;
use std::collections::HashMap;
use torr_session::hurl::ast::{Piece, Template};

/// What all scenarios share.
pub(super) struct Config {
    node: Node,
    /// The name of the environment.
    pub(super) environment: Option<String>,
    /// The files with a record for each user.
    pub(super) records: Vec<Records>,
    /// What is left out of it.
    pub(super) left_out: Vec<LeftOut>,
    pub(super) notes: Vec<String>,
    /// The positions of variables, by name.
    places: HashMap<String, usize>,
}

/// Members that the rest of the importer reads.
const READ: &[&str] = &[
    "target",
    "phases",
    "variables",
    "payload",
    "defaults",
    "http",
    "tls",
    "timeout",
    "environments",
    "plugins",
    "ensure",
    "processor",
    "mode",
    "engines",
    "statsInterval",
    "name",
];

impl Config {
    /// Reads the part `config` with an environment. `read` reads a file beside the script.
    ///
    /// # Errors
    /// If there is no such environment, or none was chosen and only they have a target.
    pub(super) fn read(
        script: &Node,
        environment: Option<&str>,
        read: &dyn Fn(&str) -> Result<Vec<u8>, String>,
    ) -> Result<Self, ImportError> {
        let own = script.get("config");
        let names: Vec<&str> = own.get("environments").members().iter().map(|(name, _)| name.as_str()).collect();
        let there = if names.is_empty() { "the script has none".to_owned() } else { names.join(", ") };
        let mut node = own.clone();
        if let Some(name) = environment {
            let chosen = own.get("environments").get(name);
            if chosen.is_null() {
                return Err(ImportError(format!("no such environment: '{name}' (expected: {there})")));
            }
            node = value::merged(node, chosen);
        }
        let mut config = Self {
            node,
            environment: environment.map(str::to_owned),
            records: Vec::new(),
            left_out: Vec::new(),
            notes: Vec::new(),
            places: HashMap::new(),
        };
        for (at, (name, _)) in config.node.get("variables").members().iter().enumerate() {
            config.places.entry(name.clone()).or_insert(at);
        }
        if environment.is_none() && !names.is_empty() {
            if config.target().is_none() {
                return Err(ImportError(format!("the script has no target: choose an environment ({there})")));
            }
            config.notes.push(format!("environments: {there}; choose one with --environment NAME"));
        }
        config.records = payload::read(config.node.get("payload"), &mut config.left_out, read);
        config.unread();
        Ok(config)
    }

    /// Returns a member.
    pub(super) fn get(&self, name: &str) -> &Node {
        self.node.get(name)
    }

    /// Returns the URL before paths.
    pub(super) fn target(&self) -> Option<&str> {
        self.node.get("target").text()
    }

    /// Returns the defaults of requests of this name, of which the newer place wins.
    pub(super) fn defaults(&self, name: &str) -> &Node {
        let newer = self.node.get("http").get("defaults").get(name);
        if newer.is_null() { self.node.get("defaults").get(name) } else { newer }
    }

    /// Returns the value of a variable, or of a path into one.
    pub(super) fn variable(&self, name: &str) -> Option<&Node> {
        let variables = self.node.get("variables");
        let exact = self.places.get(name).and_then(|at| variables.members().get(*at));
        exact.map(|(_, value)| value).or_else(|| value::at(variables, &value::steps(name)?))
    }

    /// Whether a variable is a list of which each user has one value.
    pub(super) fn is_sampled(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// Whether Artillery has no value for a name within the part `config`.
    pub(super) fn is_undefined(&self, name: &str) -> bool {
        text::of_process(name).is_none() && (name != "$environment" || self.environment.is_none())
    }

    /// Returns a template of text in this part, where Artillery knows the environment only.
    pub(super) fn template(&self, text: &str, left_out: &mut Vec<LeftOut>) -> Template {
        let mut pieces = Vec::new();
        for part in text::parts(text) {
            match part {
                Part::Text(text) => push(&mut pieces, Piece::Text(text.to_owned())),
                Part::Call(name, inner) => {
                    function::call(name, inner, left_out).into_iter().for_each(|piece| push(&mut pieces, piece));
                }
                Part::Name(name) => push(&mut pieces, self.piece(name, left_out)),
            }
        }
        Template(pieces)
    }

    fn piece(&self, name: &str, left_out: &mut Vec<LeftOut>) -> Piece {
        match (text::of_process(name).filter(|name| text::is_plain(name)), &self.environment) {
            (Some(name), _) => of_environment(name),
            (None, Some(environment)) if name == "$environment" => Piece::Text(environment.clone()),
            _ => {
                let reason = "Artillery knows only the environment in config, and sends undefined";
                left_out.push(LeftOut::new(format!("variable {name}"), "", reason));
                Piece::Text("undefined".to_owned())
            }
        }
    }

    /// Says what no request and no flag of a run carries over.
    fn unread(&mut self) {
        let mut left_out = Vec::new();
        // The summary shows kinds only.
        let mut say = |kind: &str, which: &str, reason: &str| {
            left_out.push(LeftOut::new(format!("{kind} {which}"), "", reason));
        };
        for (name, _) in self.node.members().iter().filter(|(name, _)| !READ.contains(&name.as_str())) {
            say("setting", name, "no counterpart");
        }
        if let Some(file) = self.node.get("processor").text() {
            say("processor", file, FUNCTION);
        }
        for (name, _) in self.node.get("plugins").members() {
            if !matches!(name.as_str(), "expect" | "ensure") {
                say("plugin", name, "no counterpart");
            }
        }
        for (name, of) in self.node.get("http").members() {
            match name.as_str() {
                "defaults" | "timeout" => {}
                "extendedMetrics" => say("setting", "http.extendedMetrics", "Torr has its own report"),
                "pool" | "maxSockets" => {
                    let shown = format!("http.{name}: {}", of.plain());
                    say("setting", &shown, "each user has its own connections");
                }
                name => say("setting", &format!("http.{name}"), "no counterpart"),
            }
        }
        for (name, _) in self.node.get("tls").members().iter().filter(|(name, _)| name != "rejectUnauthorized") {
            say("setting", &format!("tls.{name}"), "use --cacert, --cert and --key");
        }
        for place in [self.node.get("defaults"), self.node.get("http").get("defaults")] {
            for (name, _) in place.members() {
                if !matches!(name.as_str(), "headers" | "cookie" | "think" | "strictCapture") {
                    say("setting", &format!("defaults.{name}"), "no counterpart");
                }
            }
        }
        self.left_out.append(&mut left_out);
    }
}
