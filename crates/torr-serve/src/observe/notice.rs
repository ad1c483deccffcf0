//! Lines for operators of the server, outside of the access log.

use std::io::{self, Write};

/// Reports a fault in one line: as a warning to the program's `tracing` subscriber, or else on standard error.
pub(crate) fn warn(line: &str) {
    if tracing::dispatcher::has_been_set() {
        tracing::warn!("{line}");
    } else {
        print(line);
    }
}

/// Reports an event in one line: as information to the program's `tracing` subscriber, or else on standard error.
pub(crate) fn inform(line: &str) {
    if tracing::dispatcher::has_been_set() {
        tracing::info!("{line}");
    } else {
        print(line);
    }
}

fn print(line: &str) {
    // A closed standard error does not stop the server.
    let _ = writeln!(io::stderr(), "torr-serve: {line}");
}

#[cfg(test)]
mod tests {
    use super::*;
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
