//! What there is to know of a setting.

use crate::field::Field;
use crate::load::Load;

/// A setting of a load.
#[derive(Clone, Copy)]
pub struct Setting {
    /// The long name of the flag, without hyphens, and the key in plans and messages.
    pub name: &'static str,
    /// The letter of the flag.
    pub short: Option<char>,
    /// Another long name of the flag.
    pub alias: Option<&'static str>,
    /// The part of the load.
    pub part: Part,
    /// What its value is.
    pub kind: Kind,
    /// How often it can have a value.
    pub times: Times,
    /// The meaning in one line of the help on one screen; settings without it are not in that help.
    pub brief: Option<&'static str>,
    /// The meaning.
    pub help: &'static str,
    /// The value that holds where none is given.
    pub default: Option<&'static str>,
    /// Whether only a load of URLs needs them.
    pub needs_for_urls: bool,
    /// The settings that it needs: one of each list.
    pub needs: &'static [&'static [&'static str]],
    /// The settings that it does not go with. Each pair stands at one of both.
    pub excludes: &'static [&'static str],
    /// The file that its value names.
    pub reads: Reads,
    /// What of its value is a secret.
    pub secret: Secret,
    /// What becomes of it where a fleet loads.
    pub fleet: Fleet,
    /// Why it means nothing for a URL, and what to do instead; `None` if it means something.
    pub not_for_urls: Option<&'static str>,
    /// Why it means nothing for hurl files.
    pub not_for_sessions: Option<&'static str>,
    /// Why it means nothing for scripts.
    pub not_for_scripts: Option<&'static str>,
    /// How it yields to values beside a plan.
    pub merge: Merge,
    /// Whether the command that repeats a run has it.
    pub repeats: bool,
    pub(crate) field: Field,
}

/// The part of a load to which a setting belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// What is loaded.
    Target,
    /// How hard and how long the load is.
    Pace,
    /// What is sent.
    Request,
    /// Calls of gRPC.
    Grpc,
    /// The script that makes the requests.
    Script,
    /// The way to the service.
    Transport,
    /// How `https://` URLs are spoken to.
    Tls,
    /// What is expected of each response.
    Checks,
    /// How streams of events are read.
    Stream,
    /// Variables of sessions and scripts.
    Variables,
    /// What only hurl files have.
    Session,
    /// Outputs and thresholds.
    Output,
}

/// What a setting's value is. Texts are the names of values in the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Switch,
    /// A number, or text with a unit.
    Number(&'static str),
    /// Any text.
    Text(&'static str),
    /// The path of a file.
    Path(&'static str),
    /// One of some words.
    Choice(&'static str, &'static [&'static str]),
    /// Text that may be left out, and the text that holds then.
    OptionalText(&'static str, &'static str),
}

/// How often a setting can have a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    /// Once; the last value counts.
    Once,
    /// Several times.
    Many,
    /// Once, of several parts with commas between them.
    Joined,
}

/// The file that a setting's value names, to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// No file.
    Nothing,
    /// The value is the path.
    File,
    /// The path stands behind `@`.
    AfterAt,
    /// The path stands as in `--data-urlencode`.
    Encoded,
    /// As [`Self::Encoded`], but for values that begin with `+`.
    Query,
    /// The path stands as in `--form`.
    FormPart,
}

/// What of a setting's value is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secret {
    /// No part of it.
    Nothing,
    /// All of it. In printed commands this shell variable stands for it.
    Whole(&'static str),
    /// The value of a field line whose name tells a secret.
    Field,
    /// User, password and parameters of a URL.
    Url,
    /// Parameters, `name=value`, whose names tell secrets.
    Parameters,
    /// Members of JSON whose names tell secrets.
    Json,
}

/// What becomes of a setting where a fleet loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fleet {
    /// Each agent has it.
    Travels,
    /// The coordinator carries it out: outputs, files and variables of its machine, and what is sent once.
    Stays,
    /// It means something of one machine, and is refused.
    OneMachine,
}

/// How a value in a plan yields to one beside the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// A value beside the plan replaces those of the plan.
    Replaces,
    /// As [`Self::Replaces`], and replaces all that makes a body.
    Body,
    /// A field line replaces those of its name.
    Field,
    /// Values have names of their own: those of the plan remain, before those beside it.
    Adds,
}

/// Returns a setting with what most settings have.
pub(crate) const fn setting(part: Part, name: &'static str, kind: Kind, field: Field) -> Setting {
    let (fleet, repeats) = match part {
        Part::Output => (Fleet::Stays, false),
        Part::Variables | Part::Session => (Fleet::Stays, true),
        _ => (Fleet::Travels, true),
    };
    Setting {
        name,
        short: None,
        alias: None,
        part,
        kind,
        times: Times::Once,
        brief: None,
        help: "",
        default: None,
        needs: &[],
        needs_for_urls: false,
        excludes: &[],
        reads: Reads::Nothing,
        secret: Secret::Nothing,
        fleet,
        not_for_urls: None,
        not_for_sessions: None,
        not_for_scripts: None,
        merge: Merge::Replaces,
        repeats,
        field,
    }
}

/// How rows are written: each function fills in a column.
impl Setting {
    pub(crate) const fn short(mut self, letter: char) -> Self {
        self.short = Some(letter);
        self
    }

    pub(crate) const fn alias(mut self, name: &'static str) -> Self {
        self.alias = Some(name);
        self
    }

    pub(crate) const fn times(mut self, times: Times) -> Self {
        self.times = times;
        self
    }

    pub(crate) const fn brief(mut self, text: &'static str) -> Self {
        self.brief = Some(text);
        self
    }

    pub(crate) const fn help(mut self, text: &'static str) -> Self {
        self.help = text;
        self
    }

    pub(crate) const fn default(mut self, value: &'static str) -> Self {
        self.default = Some(value);
        self
    }

    pub(crate) const fn needs(mut self, names: &'static [&'static [&'static str]]) -> Self {
        self.needs = names;
        self
    }

    /// Fills in what a load of URLs needs, and no other.
    pub(crate) const fn needs_for_urls(mut self, names: &'static [&'static [&'static str]]) -> Self {
        (self.needs, self.needs_for_urls) = (names, true);
        self
    }

    pub(crate) const fn excludes(mut self, names: &'static [&'static str]) -> Self {
        self.excludes = names;
        self
    }

    pub(crate) const fn reads(mut self, reads: Reads) -> Self {
        self.reads = reads;
        self
    }

    pub(crate) const fn secret(mut self, secret: Secret) -> Self {
        self.secret = secret;
        self
    }

    pub(crate) const fn fleet(mut self, fleet: Fleet) -> Self {
        self.fleet = fleet;
        self
    }

    pub(crate) const fn repeats(mut self) -> Self {
        self.repeats = true;
        self
    }

    pub(crate) const fn not_for_urls(mut self, hint: &'static str) -> Self {
        self.not_for_urls = Some(hint);
        self
    }

    pub(crate) const fn not_for_sessions(mut self, hint: &'static str) -> Self {
        self.not_for_sessions = Some(hint);
        self
    }

    pub(crate) const fn not_for_scripts(mut self, hint: &'static str) -> Self {
        self.not_for_scripts = Some(hint);
        self
    }

    pub(crate) const fn merge(mut self, merge: Merge) -> Self {
        self.merge = merge;
        self
    }
}

impl Setting {
    /// Gives the setting a value in a load.
    ///
    /// # Errors
    /// For a value that it refuses.
    pub fn set(&self, load: &mut Load, value: &str) -> Result<(), String> {
        (self.field.set)(load, value)
    }

    /// Returns the values that the setting has in a load; a switch has none.
    pub(crate) fn values(&self, load: &Load) -> Vec<Option<String>> {
        let values = (self.field.get)(load).into_iter();
        values.map(|value| (self.kind != Kind::Switch).then_some(value)).collect()
    }

    /// Finds what is wrong with a value.
    ///
    /// # Errors
    /// In one line.
    pub fn check(&self, value: &str) -> Result<(), String> {
        self.set(&mut Load::default(), value)
    }

    /// Returns the flag with its hyphens, or the name of the targets.
    pub fn flag(&self) -> String {
        if self.is_positional() { "<TARGET>".to_owned() } else { format!("--{}", self.name) }
    }

    /// Returns whether the setting is the words of a command line that are no flags.
    pub fn is_positional(&self) -> bool {
        self.part == Part::Target
    }

    /// Returns whether plans have the setting.
    pub fn is_of_plans(&self) -> bool {
        self.name != "print-plan"
    }

    /// Returns whether the table of a plan can give its values, each with its name.
    pub fn is_table(&self) -> bool {
        self.is_positional() || self.kind == Kind::Text("NAME=VALUE")
    }

    /// Returns whether the setting is given in a load.
    pub fn is_in(&self, load: &Load) -> bool {
        !(self.field.get)(load).is_empty()
    }
}

impl Part {
    /// Returns the heading of the part in the help.
    pub fn heading(self) -> Option<&'static str> {
        match self {
            Self::Target => None,
            Self::Pace => Some("Load"),
            Self::Request | Self::Script => Some("Request"),
            Self::Grpc => Some("gRPC"),
            Self::Transport => Some("Transport"),
            Self::Tls => Some("TLS"),
            Self::Checks => Some("Checks"),
            Self::Stream => Some("Streams"),
            Self::Variables | Self::Session => Some("Sessions"),
            Self::Output => Some("Output"),
        }
    }

    /// Returns whether settings of the part say what is sent, or the way there.
    pub fn is_sent(self) -> bool {
        matches!(self, Self::Request | Self::Grpc | Self::Script | Self::Transport | Self::Tls | Self::Variables)
    }
}
