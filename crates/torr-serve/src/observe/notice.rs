//! Lines for operators of the server, outside of the access log.

use super::standard_error::StandardError;
use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io::Write;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use torr_net::{Nanos, clock};

/// The most failures of the application that are logged in a second.
const FAILURES: u32 = 10;
const SECOND: Nanos = 1_000_000_000;

/// Reports a fault in one line: as a warning to the program's `tracing` subscriber, or else on standard error.
pub(crate) fn warn(line: &str) {
    let line = printable(line);
    if tracing::dispatcher::has_been_set() {
        tracing::warn!("{line}");
    } else {
        print(&line);
    }
}

/// Reports an event in one line: as information to the program's `tracing` subscriber, or else on standard error.
pub(crate) fn inform(line: &str) {
    let line = printable(line);
    if tracing::dispatcher::has_been_set() {
        tracing::info!("{line}");
    } else {
        print(&line);
    }
}

/// Reports a failure of the application in one line, to the program's `tracing` subscriber. A client may be able to cause failures
/// without end, so that only a few a second have lines.
#[cold]
pub(crate) fn failure(line: fmt::Arguments<'_>) {
    static SINCE: AtomicU64 = AtomicU64::new(0);
    static LINES: AtomicU32 = AtomicU32::new(0);
    let now = clock::coarse();
    // Another thread may come between: then there are some more lines, or fewer.
    if now.saturating_sub(SINCE.load(Ordering::Relaxed)) >= SECOND {
        SINCE.store(now, Ordering::Relaxed);
        LINES.store(0, Ordering::Relaxed);
    }
    match LINES.fetch_add(1, Ordering::Relaxed) {
        ..FAILURES => tracing::error!("{line}"),
        FAILURES => tracing::error!("further failures are not logged for a second"),
        _ => {}
    }
}

/// Returns a line without characters that control a terminal, and without others that are not ASCII: a path is in it as a client has
/// sent it. Their bytes are escaped as in the access log.
fn printable(line: &str) -> Cow<'_, str> {
    let is_plain = |byte: &u8| (b' '..=b'~').contains(byte);
    if line.bytes().all(|byte| is_plain(&byte)) {
        return line.into();
    }
    let mut printable = String::with_capacity(line.len() + 16);
    for byte in line.bytes() {
        if is_plain(&byte) {
            printable.push(char::from(byte));
        } else {
            let _ = write!(printable, "\\x{byte:02x}");
        }
    }
    printable.into()
}

fn print(line: &str) {
    let _ = StandardError.write_all(format!("torr-serve: {line}\n").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::sync::{Arc, Mutex};
    use tracing_subscriber::fmt::MakeWriter;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no thread panics").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl<'w> MakeWriter<'w> for Lines {
        type Writer = Self;

        fn make_writer(&'w self) -> Self {
            self.clone()
        }
    }

    #[test]
    fn a_line_has_no_character_that_controls_a_terminal() {
        for (line, printed) in [
            ("GET /a held up its worker", "GET /a held up its worker"),
            ("GET /\u{9b}31m\u{1b}[31m", r"GET /\xc2\x9b31m\x1b[31m"),
            ("/one\n/two\r\t\0\x7f", r"/one\x0a/two\x0d\x09\x00\x7f"),
            ("/\u{202e}\u{2028}", r"/\xe2\x80\xae\xe2\x80\xa8"),
        ] {
            assert_eq!(printable(line), printed);
        }
    }

    #[test]
    fn failures_without_end_have_a_few_lines_a_second() {
        let lines = Lines::default();
        let subscriber = tracing_subscriber::fmt().with_writer(lines.clone()).without_time().with_ansi(false).finish();
        let (begin, mut reported) = (std::time::Instant::now(), 0);
        tracing::subscriber::with_default(subscriber, || {
            while reported < 5_000 {
                failure(format_args!("a handler panicked"));
                reported += 1;
            }
        });
        let text = String::from_utf8(lines.0.lock().expect("no thread panics").clone()).expect("it is text");
        let most = (begin.elapsed().as_secs() as usize + 2) * (FAILURES as usize + 1);
        assert!((1..=most).contains(&text.lines().count()), "{text}");
    }

    #[test]
    fn what_is_as_it_should_be_is_no_warning() {
        let lines = Lines::default();
        let subscriber = tracing_subscriber::fmt().with_writer(lines.clone()).without_time().with_ansi(false).finish();
        tracing::subscriber::with_default(subscriber, || {
            inform("reloaded");
            warn("a worker has crashed");
        });
        let text = String::from_utf8(lines.0.lock().expect("no thread panics").clone()).expect("it is text");
        let levels: Vec<_> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(levels, ["INFO", "WARN"], "{text}");
    }
}
