//! The stream of server-sent events of a browser, as the HTML standard defines them.

use super::feed::{Feed, Parts};
use super::subject::Subject;
use bytes::Bytes;
use futures_util::stream;
use http_body::{Body, Frame};
use http_body_util::StreamBody;
use std::convert::Infallible;
use std::fmt::Write;
use std::sync::Arc;
use tokio::sync::watch;

/// The time in milliseconds after which a browser comes again whose connection was lost.
const RETRY: &str = "retry: 1000\n\n";

/// What one browser has.
struct Reader<S> {
    feed: Arc<Feed<S>>,
    changes: watch::Receiver<u64>,
    /// The number of the report that was sent last.
    known: u64,
    is_new: bool,
    has_ended: bool,
}

/// Returns the stream of a browser: all at once, then each change until the run has ended.
pub fn stream<S: Subject>(feed: &Arc<Feed<S>>) -> impl Body<Data = Bytes, Error = Infallible> + Send + use<S> {
    let reader = Reader { feed: Arc::clone(feed), changes: feed.watch(), known: 0, is_new: true, has_ended: false };
    StreamBody::new(stream::unfold(reader, |mut reader| async move {
        if reader.has_ended {
            return None;
        }
        let mut text = String::new();
        if std::mem::take(&mut reader.is_new) {
            text += RETRY;
        } else {
            // The feed lives as long as its server.
            reader.changes.changed().await.ok()?;
        }
        reader.changes.mark_unchanged();
        let Parts { panel, report, has_ended } = reader.feed.parts(reader.known);
        if let Some((number, html)) = report {
            reader.known = number;
            event(&mut text, "report", &html);
        }
        event(&mut text, if has_ended { "end" } else { "panel" }, &panel);
        reader.has_ended = has_ended;
        Some((Ok(Frame::data(text.into())), reader))
    }))
}

/// Adds an event. Each line of the data is a field of its own.
fn event(text: &mut String, name: &str, data: &str) {
    writeln!(text, "event: {name}").expect("writing to memory does not fail");
    for line in data.split(['\n', '\r']) {
        writeln!(text, "data: {line}").expect("writing to memory does not fail");
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::event;

    #[test]
    fn no_text_ends_an_event_before_its_end() {
        let mut text = String::new();
        event(&mut text, "panel", "one\n\nevent: end\r\rtwo");
        assert_eq!(text, "event: panel\ndata: one\ndata: \ndata: event: end\ndata: \ndata: two\n\n");
    }
}
