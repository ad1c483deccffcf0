//! The blocks of a file as entries.

use super::block::{Block, Definition};
use super::files::Files;
use super::import::{self, Requests};
use super::lazy::Lazy;
use super::made::Made;
use super::{authorization, condition, content, directive, handler, reference, repeat, text, url};
use crate::draft::{DraftEntry, LeftOut};
use crate::parts::{NOWHERE, entry, is_token, pair, sent_method};
use crate::pattern::pattern;
use crate::reader::Reader;
use crate::script::{self, Phase};
use regex::Regex;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;
use torr_session::hurl::ast::{EntryOption, KeyValue, OptionName, Piece};
use torr_session::hurl::write_entry;

/// A request line that begins with a method. Without one, it is a GET.
static METHOD: LazyLock<Regex> = LazyLock::new(|| pattern(r"^([A-Za-z]+(?:-[A-Za-z]+)*)\s+(\S.*)$"));

/// What is not HTTP, by the word in a method's place.
const OTHERS: &[&str] =
    &["WS", "WSS", "WEBSOCKET", "GRPC", "RSOCKET", "SSE", "EVENTSOURCE", "MQTT", "AMQP", "RABBITMQ"];

/// The levels of requests that refer to others.
const DEEPEST: usize = 16;

/// What the blocks above have defined.
struct File<'f> {
    /// The entries of the requests that have a name.
    named: HashMap<String, usize>,
    /// All requests with a name, those of imported files as well.
    requests: HashMap<String, &'f Block>,
    /// The names of the requests that wait for those to which they refer.
    open: Vec<String>,
    /// Definitions that hold for each request that uses them.
    lazy: Lazy,
    /// Definitions for the next request.
    again: Vec<(String, String)>,
    /// Definitions of a request that was left out, for the next one.
    carried: Vec<EntryOption>,
    /// Names of variables with a second value.
    changed: HashSet<String>,
    files: &'f Files<'f>,
}

/// Adds the entries of all blocks.
pub(super) fn add_all(reader: &mut Reader, requests: &Requests, files: &Files<'_>) {
    let Requests { blocks, imported } = requests;
    let mut file = File {
        named: HashMap::new(),
        requests: import::by_name(blocks.iter().chain(imported), names),
        open: Vec::new(),
        lazy: Lazy::default(),
        again: Vec::new(),
        carried: Vec::new(),
        changed: HashSet::new(),
        files,
    };
    for definition in blocks.iter().flat_map(|block| &block.definitions) {
        // A variable that has one value has it in the whole file.
        if !file.is_lazy(definition) && reader.variables.value(&definition.name).is_none() {
            reader.variables.know(&definition.name, &definition.value, false);
        }
    }
    blocks.iter().for_each(|block| file.block(block, reader));
}

/// Returns the names of a request: the one of the file, and the one by which httpyac knows it.
fn names(name: &str) -> Vec<String> {
    if name.is_empty() { Vec::new() } else { vec![name.to_owned(), reference::camel(name)] }
}

impl File<'_> {
    /// Adds the entries of a block, and before them those to which it refers.
    fn block(&mut self, block: &Block, reader: &mut Reader) {
        if block.line.is_empty() {
            block.definitions.iter().for_each(|definition| self.define(definition, reader));
            reader.draft.left_out.extend(block.left_out.iter().cloned());
            if !block.scripts.is_empty() || !block.conditions.is_empty() {
                reader.leave_out("scripts", "without a request");
            }
            return;
        }
        if block.directive("disabled").is_some() {
            reader.leave_out("requests", "disabled in the file");
            return;
        }
        self.open.push(block.name().to_owned());
        for (_, name) in block.directives.iter().filter(|(name, _)| matches!(name.as_str(), "ref" | "force-ref")) {
            let other = self.requests.get(name).copied().filter(|_| !self.named.contains_key(name));
            match other.filter(|other| self.open.len() < DEEPEST && !self.open.iter().any(|of| of == other.name())) {
                Some(other) if self.files.take(other.size()) => self.block(other, reader),
                Some(_) => reader.leave_out("repeated requests", "more than 64 MiB together"),
                None => self.refer(block, name, reader),
            }
        }
        self.open.pop();
        for turn in repeat::turns(block, self.files) {
            // What is read for each request is read before the request's own definitions.
            let place = self.lazy.place();
            self.again.extend(self.lazy.needed(0, turn.texts(), self.files));
            turn.definitions.iter().for_each(|definition| self.define(definition, reader));
            self.again.extend(self.lazy.needed(place, turn.texts(), self.files));
            if add(&turn, self, reader) {
                let at = reader.draft.entries.len() - 1;
                names(block.name()).into_iter().for_each(|name| {
                    self.named.insert(name, at);
                });
            }
        }
    }

    /// Whether a definition is read again for each request.
    fn is_lazy(&self, definition: &Definition) -> bool {
        let of_response = |expression: &str| {
            let name = reference::split(expression).map(|(name, _)| name);
            name.is_some_and(|name| {
                let request = name.strip_suffix("Response").unwrap_or(&name);
                self.requests.contains_key(&name) || self.requests.contains_key(request) || name == "response"
            })
        };
        let mut expressions = text::expressions(&definition.value);
        if definition.is_lazy { expressions.next().is_some() } else { expressions.any(of_response) }
    }

    fn define(&mut self, definition: &Definition, reader: &mut Reader) {
        let Definition { name, value, .. } = definition;
        self.lazy.forget(name);
        if self.is_lazy(definition) {
            self.lazy.define(definition);
        } else if self.changed.contains(name) {
            self.again.push((name.clone(), value.clone()));
        } else if reader.variables.value(name) != Some(value) {
            if reader.variables.is_used(name) {
                self.changed.insert(name.clone());
                self.again.push((name.clone(), value.clone()));
            } else {
                reader.variables.know(name, value, false);
            }
        }
    }

    /// Sends a request again to which a block refers, where it says `# @forceRef`.
    fn refer(&mut self, block: &Block, name: &str, reader: &mut Reader) {
        if block.directive("force-ref") != Some(name) {
            return;
        }
        match self.named.get(name).and_then(|at| reader.draft.entries.get(*at)).cloned() {
            Some(again) if !self.files.take(write_entry(&again.entry).len()) => {
                reader.leave_out("repeated requests", "more than 64 MiB together");
            }
            Some(again) => {
                let at = reader.draft.entries.len();
                reader.draft.entries.push(again);
                names(name).into_iter().for_each(|name| {
                    self.named.insert(name, at);
                });
            }
            None => reader.draft.left_out.push(LeftOut::new("@force-ref", name, "no request before it has this name")),
        }
    }
}

/// Adds the entry of a block; `false` for what is no request of HTTP.
fn add(block: &Block, file: &mut File<'_>, reader: &mut Reader) -> bool {
    let (word, target) = match METHOD.captures(&block.line) {
        Some(found) => (found[1].to_owned(), found[2].to_owned()),
        None => ("GET".to_owned(), block.line.clone()),
    };
    if OTHERS.contains(&word.as_str()) {
        reader.leave_out(&format!("requests of {word}"), "not HTTP requests");
        return false;
    }
    let again = std::mem::take(&mut file.again);
    let mut made = Made::new(reader, block.left_out.clone(), file.files, &file.named);
    let mut draft = DraftEntry::new(entry(block.name(), made.request.clone()), std::iter::empty::<LeftOut>());
    made.request.options.append(&mut file.carried);
    for (name, value) in &again {
        made.define(name, value);
    }
    scripts(made.reader, block, Phase::Before, file.files, &mut draft);
    made.request.options.append(&mut draft.entry.request.options);
    let is_graphql = word == "GRAPHQL";
    let word = if is_graphql { "POST".to_owned() } else { word.to_uppercase() };
    let left_out = &mut made.left_out;
    made.request.method = sent_method(&word, &mut |what, reason| left_out.push(LeftOut::new(what, "", reason)));
    if !url::add(&mut made, block, &target) {
        made.request.options.retain(|option| option.name == OptionName::Variable);
        file.carried = made.request.options;
        reader.leave_out("requests", "without a valid URL of HTTP");
        return false;
    }
    // Of names that differ in the case of their letters only, the last is sent.
    let last: HashMap<String, &str> =
        block.fields.iter().map(|(name, _)| (name.to_ascii_lowercase(), name.as_str())).collect();
    for (name, value) in block.fields.iter().filter(|(name, _)| last[&name.to_ascii_lowercase()] == name) {
        field(&mut made, name, value);
    }
    content::add(&mut made, block, is_graphql);
    directive::add(&mut made, block);
    let Made { request, mut left_out, .. } = made;
    draft.entry.request = request;
    left_out.append(&mut draft.left_out);
    draft.left_out = left_out;
    scripts(reader, block, Phase::After, file.files, &mut draft);
    block.conditions.iter().for_each(|of| condition::add(of, &mut draft));
    reader.draft.entries.push(draft);
    true
}

/// Reads the scripts of a request.
fn scripts(reader: &mut Reader, block: &Block, phase: Phase, files: &Files<'_>, draft: &mut DraftEntry) {
    let kind =
        if phase == Phase::Before { "part of a script before the request" } else { "part of a response handler" };
    for of in block.scripts.iter().filter(|of| of.phase == phase) {
        let mut read = |text: &str| script::read(reader, phase, kind, &handler::lines(text, of.language), draft);
        match &of.text {
            Ok(text) => read(text),
            Err(file) => match files.text(file) {
                Ok(text) => read(&text),
                Err(reason) => draft.left_out.push(LeftOut::new("script", file, reason)),
            },
        }
    }
}

fn field(made: &mut Made<'_>, name: &str, value: &str) {
    if ["content-length", "transfer-encoding"].iter().any(|framing| name.eq_ignore_ascii_case(framing)) {
        made.leave_out("field", &format!("{name}: {value}"), "Torr sends the length of the content");
        return;
    }
    let is_of_url = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains(&format!("://{value}")));
    if name.eq_ignore_ascii_case("host") && made.request.url.0.first().is_some_and(is_of_url) {
        return;
    }
    if name.eq_ignore_ascii_case("authorization") && authorization::add(made, value) {
        return;
    }
    if name.eq_ignore_ascii_case("cookie") && cookies(made, value) {
        return;
    }
    let value = made.template(value);
    let value = made.reader.secrets.in_field(name, value);
    made.request.headers.push(KeyValue { name: name.into(), value, at: NOWHERE });
}

/// Adds cookies, which are sent in one field with those that the server has set; `false` for other text.
fn cookies(made: &mut Made<'_>, value: &str) -> bool {
    let pairs: Option<Vec<_>> = value.split(';').map(|pair| pair.trim().split_once('=')).collect();
    let Some(pairs) = pairs.filter(|pairs| pairs.iter().all(|(name, _)| is_token(name))) else { return false };
    for (name, value) in pairs {
        let value = made.template(value);
        let value = match value.literal() {
            Some(text) if !text.is_empty() => {
                made.reader.secrets.whole(&format!("cookie {name}"), "field Cookie", text)
            }
            _ => value,
        };
        made.request.cookies.push(pair(name, value));
    }
    true
}
