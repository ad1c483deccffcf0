//! The requests of a run: one or many, constant or with placeholders, shared by all threads.
//!
//! Everything is prepared before the run: URLs are parsed, values escaped, header sections composed. A thread's
//! [`Cursor`] then only copies bytes and draws values.

mod body;
mod choice;
mod column;
mod cursor;
pub mod digest;
mod draw;
mod encoder;
mod entry;
mod error;
mod escape;
mod feeder;
mod fields;
mod hex;
mod match_rule;
mod multipart;
mod numbers;
mod options;
pub(crate) mod outgoing;
mod request_set;
mod sent_content;
mod sent_secrets;
mod signer;
pub mod sigv4;
mod template;
#[cfg(test)]
mod tests;
pub mod token;
mod urls;
mod websocket;

pub use cursor::Cursor;
pub use draw::Order;
pub use encoder::Encoder;
pub use entry::LEAST_SHARED;
pub use error::RequestError;
pub use feeder::{Feeder, part_of_records};
pub use fields::have as have_field;
pub use match_rule::MatchRule;
pub use options::{Auth, Body, Content, Data, Options, Part};
pub use sent_content::SentContent;
pub use sent_secrets::{secrets_of_content, secrets_of_head, sent_secrets};
pub use torr_wire::websocket::Offer as CompressionOffer;
pub use urls::{Url, read_list};
pub use websocket::{WebSocketOptions, WebSocketRequests};

use crate::servers::target::Target;
use bytes::Bytes;
use choice::Choice;
use entry::{Composer, Entry};
use memchr::memmem;
use numbers::Numbers;
use request_set::RequestSet;
use signer::Signing;
use std::collections::BTreeSet;
use std::sync::Arc;
use token::Token;
use torr_gauge::secrets::{Haystack, unescaped};
use torr_wire::websocket::Kind;

/// What stands around the number of a column where secrets are looked for: characters for private use, which JSON and header
/// sections can have.
const MARKS: [&str; 2] = ["\u{e000}", "\u{e001}"];

/// The requests of a run, shared by all threads. Clones share their numbers.
#[derive(Debug, Clone)]
pub struct Requests {
    shared: Arc<RequestSet>,
    /// What makes the requests messages of WebSocket connections.
    websocket: Option<Arc<WebSocketRequests>>,
}

impl Requests {
    /// Composes the requests of these URLs, of which there is at least one.
    ///
    /// # Errors
    /// Returns each [`RequestError`] that requests can have.
    pub fn new(urls: &[Url], options: &Options) -> Result<Self, RequestError> {
        let first = urls.first().ok_or(RequestError::NoUrls)?;
        let mut composer = Composer::new(options)?;
        let mut entries = Vec::with_capacity(urls.len());
        for url in urls {
            if !url.target.has_origin_of(&first.target) {
                let (url, first) = (url.target.url.clone(), first.target.origin());
                return Err(RequestError::OtherOrigin { url, first });
            }
            entries.push(composer.entry(url)?);
        }
        let choice = (urls.len() > 1).then(|| Choice::new(urls.iter().map(|url| url.weight), options.url_order));
        Ok(Self::of_entries(entries, choice, options, composer))
    }

    /// Returns the requests of entries, of which there is at least one, and of the composer that made them.
    fn of_entries(entries: Vec<Entry>, choice: Option<Choice>, options: &Options, composer: Composer<'_>) -> Self {
        let signing = match &options.auth {
            // As with curl, a field of the user's own replaces a signature.
            _ if fields::have(&options.headers, "authorization") => None,
            Some(Auth::Signed(signing)) => Some(Signing::Signature(signing.clone())),
            Some(Auth::Renewed(token)) => Some(Signing::Token(token.clone())),
            _ => None,
        };
        let longest = signing.as_ref().map_or(0, Signing::longest);
        let mut shared = RequestSet {
            choice,
            signing,
            is_same: false,
            constant: None,
            asks_to_close: fields::ask_to_close(&options.headers),
            largest: longest + entries.iter().map(|entry| entry.longest).max().unwrap_or(0),
            columns: composer.parser.columns,
            environment: composer.parser.environment,
            records: options.feeder.as_ref().map_or(1, Feeder::records),
            record_order: options.feeder_order,
            seed: fastrand::u64(..),
            numbers: Numbers::default(),
            record_numbers: Numbers::default(),
            turns: Numbers::default(),
            entries,
        };
        shared.is_same = shared.choice.is_none() && shared.entries[0].is_constant();
        let first = &shared.entries[0];
        if shared.is_constant() && !first.has_shared_content() && !first.is_encoded() {
            let mut bytes = Vec::new();
            Cursor::new(&shared, 0, 1).write(&mut bytes);
            bytes.shrink_to_fit();
            shared.constant = Some(bytes);
        }
        Self { shared: Arc::new(shared), websocket: None }
    }

    /// Composes the messages that are sent on WebSocket connections to this URL, whose opening handshakes have the fields of `options`.
    ///
    /// # Errors
    /// Returns each [`RequestError`] that requests can have, and if the message is missing, no text, or too large.
    pub fn messages(url: &Url, options: &Options, of_websocket: &WebSocketOptions) -> Result<Self, RequestError> {
        let options = Options { body: None, ..options.clone() };
        let handshake = websocket::handshake(&options, of_websocket)?;
        let handshakes = Self::new(std::slice::from_ref(url), &handshake)?.shared;
        let mut composer = Composer::new(&options)?;
        let message = websocket::message(&url.target, of_websocket, &mut composer)?;
        let websocket = Arc::new(WebSocketRequests::new(handshakes, of_websocket));
        // The handshake is signed, and not its messages.
        let unsigned = Options { auth: None, ..options.clone() };
        Ok(Self { websocket: Some(websocket), ..Self::of_entries(vec![message], None, &unsigned, composer) })
    }

    /// Returns what makes these requests messages of WebSocket connections, if they are such.
    pub fn websocket(&self) -> Option<&WebSocketRequests> {
        self.websocket.as_deref()
    }

    /// Returns the token that the requests send, if it is renewed during the run.
    pub fn token(&self) -> Option<&Token> {
        let set = self.websocket.as_ref().map_or(&self.shared, |websocket| &websocket.handshakes);
        match &set.signing {
            Some(Signing::Token(token)) => Some(token),
            _ => None,
        }
    }

    /// Returns a plain GET of one URL.
    ///
    /// # Errors
    /// Returns the errors of [`Requests::new`].
    pub fn get(target: &Target, keep_alive: bool) -> Result<Self, RequestError> {
        Self::new(&[target.clone().into()], &Options { keep_alive, ..Options::default() })
    }

    /// Returns a request whose bytes in HTTP/1.1 or 1.0 are given.
    ///
    /// # Errors
    /// [`RequestError::Method`], if the method is none; it is that of the bytes, and decides how responses are read.
    pub fn raw(target: &Target, method: &str, bytes: Vec<u8>) -> Result<Self, RequestError> {
        let options = Options { method: Some(method.to_owned()), templates: false, ..Options::default() };
        let mut requests = Self::new(&[target.clone().into()], &options)?;
        if let Some(shared) = Arc::get_mut(&mut requests.shared) {
            shared.largest = bytes.len();
            let head = memmem::find(&bytes, b"\r\n\r\n").map_or(bytes.len(), |at| at + 4);
            if bytes.len() - head >= entry::LEAST_SHARED {
                let mut bytes = Bytes::from(bytes);
                let content = bytes.split_off(head);
                shared.entries[0].replace_by(&bytes, content);
                shared.constant = None;
            } else {
                shared.constant = Some(bytes);
            }
        }
        Ok(requests)
    }

    /// Returns the secrets that the requests send: values of fields and parameters whose names say so, and of the environment. Of
    /// the records of a file there may be a million, so that only those are returned which may stand in the haystack.
    pub fn secrets(&self, haystack: &Haystack) -> Vec<String> {
        let set = &*self.shared;
        let mut bytes = Vec::new();
        let mut found = set.environment.clone();
        if let Some(token) = self.token() {
            found.extend(token.values().iter().map(|value| value.to_string()));
        }
        // A message has no header section.
        let sent_secrets = if self.websocket.is_some() { secrets_of_content } else { sent_secrets };
        if let Some(websocket) = &self.websocket {
            let handshakes = Self { shared: Arc::clone(&websocket.handshakes), websocket: None };
            found.extend(handshakes.secrets(haystack));
        }
        let mut columns = BTreeSet::new();
        match &set.constant {
            Some(constant) => found.extend(sent_secrets(constant)),
            None => {
                for entry in &set.entries {
                    bytes.clear();
                    entry.write_marked(MARKS, &mut bytes);
                    for secret in sent_secrets(&bytes) {
                        let marked = secret.split(MARKS[0]).skip(1).filter_map(|rest| rest.split(MARKS[1]).next());
                        columns.extend(marked.filter_map(|column| column.parse::<usize>().ok()));
                        if !secret.contains(MARKS[0]) {
                            found.push(secret);
                        }
                    }
                }
            }
        }
        for column in columns.into_iter().filter_map(|column| set.columns.get(column)) {
            let values = (0..column.len()).map(|record| unescaped(column.get(record)));
            let present = values.filter(|value| haystack.may_hold(value));
            found.extend(present.map(|value| String::from_utf8_lossy(&value).into_owned()));
        }
        found
    }

    /// Returns the cursor of thread `thread` of `threads`.
    pub fn cursor(&self, thread: usize, threads: usize) -> Cursor<'_> {
        Cursor::new(&self.shared, thread, threads)
    }

    /// The methods, each once, in the order of the URLs: `GET`, or `GET,POST`; of messages, their kind: `text` or `binary`.
    pub fn method(&self) -> String {
        if let Some(websocket) = &self.websocket {
            return if websocket.kind == Kind::Text { "text".into() } else { "binary".into() };
        }
        let mut methods: Vec<&str> = vec![];
        for entry in &self.shared.entries {
            if !methods.contains(&entry.method.as_str()) {
                methods.push(entry.method.as_str());
            }
        }
        methods.join(",")
    }

    /// Whether the requests take fields from the records of a feeder.
    pub fn takes_records(&self) -> bool {
        !self.shared.columns.is_empty()
    }

    /// Whether all requests have the same bytes.
    pub fn is_constant(&self) -> bool {
        self.shared.is_constant()
    }

    /// Whether a request has content that all connections send from the same memory.
    pub(crate) fn has_shared_content(&self) -> bool {
        self.shared.entries.iter().any(Entry::has_shared_content)
    }

    /// Whether the header fields ask the server to close the connection after each response.
    pub(crate) fn ask_to_close(&self) -> bool {
        self.shared.asks_to_close
    }

    /// The most bytes that a request has in HTTP/1.1; of a constant one, its size.
    pub fn largest_bytes(&self) -> usize {
        self.shared.largest
    }
}
