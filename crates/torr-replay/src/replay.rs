//! The replay of a log as the users of a run.

use crate::queue::Queues;
use crate::reading::{ReadSoFar, Reading};
use crate::request::RequestTemplate;
use crate::shared::Shared;
use crate::user::ReplayThread;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use torr_gauge::replay::Replay as ReplayResult;
use torr_gauge::secrets::Secrets;
use torr_gauge::sessions::EntryName;
use torr_gauge::{RunResult, redact};
use torr_logs::{LogReader, LoggedRequest, rfc3339};
use torr_press::Feed;
use torr_press::request::secrets_of_content;
use torr_press::users::{ThreadPart, ThreadUsers, Users};

/// The number of characters of a line that could not be read which are shown.
const SHOWN: usize = 200;

/// How a log is replayed.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The factor by which the time of the log passes faster, more than 0.
    pub speed: f64,
    /// The number of requests to send at most.
    pub most: Option<u64>,
    /// The time after which the run ends, if it ends before the log.
    pub duration: Option<Duration>,
    /// The number of load threads.
    pub threads: usize,
    /// The methods that are sent, with commas between them.
    pub methods: String,
    /// Texts that no output shows.
    pub secrets: Vec<String>,
}

/// The replay of a log: the users of a run, each of which sends the request that is due next.
#[derive(Debug)]
pub struct Replay {
    shared: Shared,
    so_far: Arc<Mutex<ReadSoFar>>,
    settings: Settings,
    formats: Vec<String>,
    first: i64,
}

impl Replay {
    /// Starts to read a log ahead, from its first request on, which was read before. The request is due when the run begins.
    ///
    /// # Errors
    /// If the system refuses a thread.
    pub fn start(
        reader: LogReader,
        first: LoggedRequest,
        template: RequestTemplate,
        settings: Settings,
    ) -> io::Result<Self> {
        let (queues, so_far) = (Arc::new(Queues::new(settings.threads)), Arc::default());
        let formats = reader.formats().iter().map(|&name| name.to_owned()).collect();
        let begin = first.at;
        let until = settings.duration.map(|duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
        let reading = Reading { reader, speed: settings.speed, most: settings.most, until };
        let (to, noted) = (Arc::clone(&queues), Arc::clone(&so_far));
        thread::Builder::new().name("log".into()).spawn(move || reading.run(first, &to, &noted))?;
        Ok(Self { shared: Shared::new(queues, template), so_far, settings, formats, first: begin })
    }

    /// Returns the times at which the requests are due.
    pub fn feed(&self) -> Feed {
        Feed::new(Arc::clone(&self.shared.queues) as _)
    }

    fn so_far(&self) -> ReadSoFar {
        self.so_far.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        self.shared.queues.stop();
    }
}

impl Users for Replay {
    fn entries(&self) -> Vec<EntryName> {
        vec![EntryName { name: "request".to_owned(), file: "log".into(), line: 1, asserts: Vec::new() }]
    }

    fn thread(&self, part: ThreadPart) -> Box<dyn ThreadUsers + '_> {
        Box::new(ReplayThread::new(&self.shared, &part))
    }

    fn methods(&self) -> Option<String> {
        Some(self.settings.methods.clone())
    }

    fn secrets(&self) -> Vec<String> {
        self.settings.secrets.clone()
    }

    fn has_sessions(&self) -> bool {
        false
    }

    fn error(&self) -> Option<String> {
        self.so_far().error
    }

    fn complete(&self, result: &mut RunResult) {
        let ReadSoFar { counts, requests, last, bursts, .. } = self.so_far();
        let mut replay = ReplayResult {
            formats: self.formats.clone(),
            speed: self.settings.speed,
            from: rfc3339(self.first),
            to: rfc3339(last),
            lines: counts.lines,
            requests,
            unreadable: counts.unreadable,
            first_unreadable: counts.first_unreadable.as_deref().map(shown),
            outside: counts.outside,
            left_out_methods: counts.methods,
            left_out_hosts: counts.hosts,
            late: counts.late,
            spread: counts.spread,
            bursts: bursts.bursts(),
            ..ReplayResult::default()
        };
        self.shared.comparison().complete(&mut replay);
        result.replay = Some(replay);
    }
}

/// Returns a line of a log as it may be shown.
pub fn shown(line: &str) -> String {
    let words: Vec<_> = before_secret_field(line).split_whitespace().map(without_secrets).collect();
    // Members of JSON have their secrets as well.
    let secrets = Secrets::new(secrets_of_content(line.as_bytes()));
    redact::line(&secrets.mask(words.join(" "))).chars().take(SHOWN).collect()
}

/// Returns a line up to the first name of a field whose value is a secret, if it has any: where that value ends is not known.
fn before_secret_field(line: &str) -> &str {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let mut names = line.match_indices(is_of_name).map(|(at, _)| at).filter(|at| !line[..*at].ends_with(is_of_name));
    let end = names.find_map(|at| {
        let length = line[at..].find(|c: char| !is_of_name(c)).unwrap_or(line.len() - at);
        let (name, behind) = line[at..].split_at(length);
        (behind.starts_with(['"', ':']) && redact::is_secret_field(name)).then_some(at + length)
    });
    end.map_or(line, |end| &line[..end])
}

/// Returns a word with its URL, or its parameters without one, as they may be shown.
fn without_secrets(word: &str) -> String {
    let word = redact::url(word);
    if word.contains('?') {
        return word.into_owned();
    }
    let start = word.find(|c: char| c.is_ascii_alphanumeric()).unwrap_or(0);
    let as_query = format!("?{}", &word[start..]);
    format!("{}{}", &word[..start], &redact::url(&as_query)[1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_cannot_be_read_is_shown_without_secrets() {
        for (line, expected) in [
            ("junk \"GET /a?token=s3cretvalue&b=1 HTTP/1.1\"", "junk \"GET /a?token=***&b=1 HTTP/1.1\""),
            ("x http://ann:s3cretvalue@host/", "x http://***@host/"),
            ("x 'token=s3cretvalue&page=2' y", "x 'token=***&page=2' y"),
            ("{\"headers\":{\"Authorization\":[\"Bearer s3cretvalue\"]}}", "{\"headers\":{\"Authorization"),
        ] {
            assert_eq!(shown(line), expected);
        }
        assert!(!shown(r#"{"ts":1,"uri":"/a?api_key=s3cretvalue","x":1}"#).contains("s3cret"));
        assert!(!shown("a\u{1b}[2Jb").contains('\u{1b}'));
    }
}
