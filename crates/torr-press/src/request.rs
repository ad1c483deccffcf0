//! What is sent: one request or many, constant or with placeholders, shared by all threads.
//!
//! Everything is settled before the run: URLs are parsed, values written for their places, heads put together. A thread's
//! [`Cursor`] then only copies bytes and draws values.

mod body;
mod choice;
mod column;
mod cursor;
mod draw;
mod entry;
mod error;
mod escape;
mod feeder;
mod fields;
mod multipart;
mod numbers;
mod options;
mod template;
#[cfg(test)]
mod tests;
mod urls;

pub use cursor::{Cursor, RequestInfo, RequestParts};
pub use draw::Order;
pub use error::RequestError;
pub use feeder::Feeder;
pub use options::{Auth, Body, Content, Data, Options, Part};

pub use urls::{Url, read_list};

use crate::target::Target;
use choice::Choice;
use column::Column;
use entry::{Composer, Entry};
use numbers::Numbers;
use std::sync::Arc;

/// All that a run sends, shared by all threads. Clones go on counting together.
#[derive(Debug, Clone)]
pub struct Requests {
    shared: Arc<RequestSet>,
}

/// What cursors look at.
#[derive(Debug)]
struct RequestSet {
    /// At least one.
    entries: Vec<Entry>,
    /// With several entries.
    choice: Option<Choice>,
    /// The only request's bytes in HTTP/1.1, where they are the same every time.
    constant: Option<Vec<u8>>,
    /// The most bytes of a request.
    largest: usize,
    columns: Vec<Column>,
    records: usize,
    record_order: Order,
    seed: u64,
    numbers: Numbers,
    record_numbers: Numbers,
    turns: Numbers,
}

impl Requests {
    /// Makes what is sent to these URLs, of which there is at least one.
    ///
    /// # Errors
    /// Each [`RequestError`] that requests can have.
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
        let mut shared = RequestSet {
            choice,
            constant: None,
            largest: entries.iter().map(|entry| entry.longest).max().unwrap_or(0),
            columns: composer.parser.columns,
            records: options.feeder.as_ref().map_or(1, Feeder::records),
            record_order: options.feeder_order,
            seed: fastrand::u64(..),
            numbers: Numbers::default(),
            record_numbers: Numbers::default(),
            turns: Numbers::default(),
            entries,
        };
        if shared.choice.is_none() && shared.entries[0].is_constant() {
            let mut bytes = Vec::new();
            Cursor::new(&shared, 0, 1).write(&mut bytes);
            bytes.shrink_to_fit();
            shared.constant = Some(bytes);
        }
        Ok(Self { shared: Arc::new(shared) })
    }

    /// A plain GET of one URL.
    ///
    /// # Errors
    /// As [`Requests::new`].
    pub fn get(target: &Target, keep_alive: bool) -> Result<Self, RequestError> {
        Self::new(&[target.clone().into()], &Options { keep_alive, ..Options::default() })
    }

    /// A request whose bytes in HTTP/1.1 or 1.0 somebody else has made, sent over and over.
    ///
    /// # Errors
    /// [`RequestError::Method`], if the method is none; it is what the bytes say, and decides how answers are read.
    pub fn raw(target: &Target, method: &str, bytes: Vec<u8>) -> Result<Self, RequestError> {
        let options = Options { method: Some(method.to_owned()), templates: false, ..Options::default() };
        let mut requests = Self::new(&[target.clone().into()], &options)?;
        if let Some(shared) = Arc::get_mut(&mut requests.shared) {
            shared.largest = bytes.len();
            shared.constant = Some(bytes);
        }
        Ok(requests)
    }

    /// The place of one of so many threads; each has one of its own.
    pub fn cursor(&self, thread: usize, threads: usize) -> Cursor<'_> {
        Cursor::new(&self.shared, thread, threads)
    }

    /// The methods, each once, in the order of the URLs: `GET`, or `GET,POST`.
    pub fn method(&self) -> String {
        let mut methods: Vec<&str> = vec![];
        for entry in &self.shared.entries {
            if !methods.contains(&entry.method.as_str()) {
                methods.push(entry.method.as_str());
            }
        }
        methods.join(",")
    }

    /// Whether one request is sent over and over.
    pub fn is_constant(&self) -> bool {
        self.shared.constant.is_some()
    }

    /// The most bytes that a request has in HTTP/1.1; of a constant one, its size.
    pub fn largest_bytes(&self) -> usize {
        self.shared.largest
    }
}
