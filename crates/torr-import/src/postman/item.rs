//! Folders and requests of a collection.

use super::{auth, body, reader, script, url};
use crate::draft::{DraftEntry, LeftOut};
use crate::node::Node;
use crate::parts::{NOWHERE, drop_nameless, entry, has_field, nothing, option, sent_method};
use crate::reader::Reader;
use crate::script::Phase;
use crate::target;
use torr_session::hurl::ast::{KeyValue, OptionName, OptionValue, Piece, Request, Template};

/// The levels of folders; JSON itself has a limit near.
const DEEPEST: usize = 64;

/// What a request inherits from the folders around it.
#[derive(Debug, Clone)]
pub(super) struct Folder<'c> {
    pub(super) auth: &'c Node,
    /// The scripts of the folders, from outside in.
    pub(super) events: Vec<&'c Node>,
}

impl Reader {
    /// Reads the collection, or a folder within it.
    pub(super) fn folder<'c>(&mut self, folder: &'c Node, above: &Folder<'c>, depth: usize) {
        if depth > DEEPEST {
            self.leave_out("folders", "nested too deeply");
            return;
        }
        let mut inside = above.clone();
        if !folder.get("auth").is_null() {
            inside.auth = folder.get("auth");
        }
        inside.events.extend(folder.get("event").items());
        if depth > 0 {
            reader::know(folder.get("variable"), &mut self.variables);
        }
        for item in folder.get("item").items() {
            if !item.get("item").is_null() {
                self.folder(item, &inside, depth + 1);
            } else if item.get("request").is_null() {
                self.leave_out("items", "neither a request nor a folder");
            } else {
                self.request(item, &inside);
            }
        }
    }

    fn request(&mut self, item: &Node, folder: &Folder<'_>) {
        let described = item.get("request");
        let mut left_out = Vec::new();
        let address = if described.text().is_some() { described } else { described.get("url") };
        let address = url::text(address, &mut left_out);
        let address = address.trim_start_matches([':', '/']);
        if address.is_empty() {
            self.leave_out("requests", "without a URL");
            return;
        }
        let own = item.get("event").items().iter();
        let events: Vec<&Node> = folder.events.iter().copied().chain(own).collect();
        let of_phase = |phase: Phase| {
            let is_of_phase = move |event: &&&Node| event.get("listen").text() == Some(script::name(phase));
            events.iter().filter(is_of_phase).copied().collect::<Vec<_>>()
        };
        // The scripts before the request give values to its variables.
        let mut made =
            DraftEntry::new(entry(item.get("name").text_or_empty(), nothing()), std::iter::empty::<LeftOut>());
        for event in of_phase(Phase::Before) {
            script::read(self, Phase::Before, event, &mut made);
        }
        let definitions = std::mem::take(&mut made.entry.request.options);
        let target = self.address(address, &mut left_out);
        let target = self.secrets.url(target);
        left_out.extend(target::respelled(&target));
        let name = described.get("method").text().filter(|name| !name.is_empty()).unwrap_or("GET");
        // Postman sends a method in capital letters.
        let method =
            sent_method(&name.to_uppercase(), &mut |what, reason| left_out.push(LeftOut::new(what, "", reason)));
        let mut request = Request::new(method, target, NOWHERE);
        let behaviour = item.get("protocolProfileBehavior");
        self.fields(described.get("header"), &mut request, &mut left_out);
        let own = if described.get("auth").is_null() { item.get("auth") } else { described.get("auth") };
        auth::add(self, if own.is_null() { folder.auth } else { own }, &mut request, &mut left_out);
        let keeps_content = behaviour.get("disableBodyPruning").is_true();
        body::add(self, described.get("body"), keeps_content, &mut request, &mut left_out);
        drop_nameless(&mut request);
        request.options.splice(0..0, definitions);
        self.behaviour(behaviour, &mut request, &mut left_out);
        made.entry.request = request;
        left_out.append(&mut made.left_out);
        made.left_out = left_out;
        for event in of_phase(Phase::After) {
            script::read(self, Phase::After, event, &mut made);
        }
        for _ in item.get("response").items() {
            self.leave_out("saved responses", "they are documentation");
        }
        self.draft.entries.push(made);
    }

    /// Returns the template of a URL: with http where neither the text nor its first variable has a scheme.
    fn address(&mut self, address: &str, left_out: &mut Vec<LeftOut>) -> Template {
        let mut template = self.template(address, left_out);
        let has_scheme = match address.strip_prefix("{{").and_then(|rest| rest.split_once("}}")) {
            Some((name, rest)) => {
                rest.starts_with("://")
                    || self
                        .variables
                        .value(name.trim())
                        .is_none_or(|value| value.is_empty() || value.contains("://") || value.contains("{{"))
            }
            None => address.contains("://"),
        };
        if !has_scheme {
            template.0.insert(0, Piece::Text("http://".to_owned()));
            // Neighbouring texts are one piece.
            let pieces = std::mem::take(&mut template.0);
            pieces.into_iter().for_each(|piece| crate::parts::push(&mut template.0, piece));
        }
        template
    }

    fn fields(&mut self, header: &Node, request: &mut Request, left_out: &mut Vec<LeftOut>) {
        // Format 2.0 may have the fields as text.
        if let Some(text) = header.text() {
            for (name, value) in text.lines().filter_map(|line| line.split_once(':')) {
                self.field(name.trim(), value.trim(), request, left_out);
            }
        }
        for row in body::enabled(header, "field", left_out) {
            self.field(&row.get("key").plain(), &row.get("value").plain(), request, left_out);
        }
    }

    fn field(&mut self, name: &str, value: &str, request: &mut Request, left_out: &mut Vec<LeftOut>) {
        if name.eq_ignore_ascii_case("content-length") || name.eq_ignore_ascii_case("host") && value.is_empty() {
            return;
        }
        let value = self.template(value, left_out);
        let value = self.secrets.in_field(name, value);
        let name = self.template(name, left_out);
        request.headers.push(KeyValue { name, value, at: NOWHERE });
    }

    /// Adds how Postman treats redirects and certificates.
    fn behaviour(&mut self, behaviour: &Node, request: &mut Request, left_out: &mut Vec<LeftOut>) {
        let mut is_followed = true;
        for (name, value) in behaviour.members() {
            match (name.as_str(), value) {
                ("followRedirects", value) => is_followed = value.is_true(),
                ("maxRedirects", Node::Number(number)) => {
                    let count = OptionValue::Count(number.as_u64());
                    request.options.push(option(OptionName::MaxRedirects, count));
                }
                ("strictSSL", Node::Boolean(false)) => {
                    request.options.push(option(OptionName::Insecure, OptionValue::Boolean(true)));
                }
                ("disabledSystemHeaders", names) => {
                    for (name, _) in names.members().iter().filter(|(_, is_off)| is_off.is_true()) {
                        let name = match name.to_ascii_lowercase().as_str() {
                            "accept" => "Accept",
                            "user-agent" => "User-Agent",
                            "content-type" if !has_field(request, "content-type") => "Content-Type",
                            _ => continue,
                        };
                        request.options.push(option(OptionName::NoHeader, OptionValue::Text(name.into())));
                    }
                }
                ("disableCookies", value) if value.is_true() => {
                    request.options.push(option(OptionName::NoCookieStore, OptionValue::Boolean(true)));
                }
                ("strictSSL" | "disableBodyPruning" | "disableCookies", _) => {}
                (other, _) => left_out.push(LeftOut::new("setting", other, "no counterpart")),
            }
        }
        if is_followed {
            request.options.push(option(OptionName::Location, OptionValue::Boolean(true)));
        }
    }
}
