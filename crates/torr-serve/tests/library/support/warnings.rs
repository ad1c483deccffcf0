//! The warnings that servers of this process report, whichever test they are of.

use std::sync::{Mutex, Once};

struct Subscriber;

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());
static LISTENING: Once = Once::new();

/// Begins to keep warnings.
pub fn listen() {
    LISTENING.call_once(|| tracing::subscriber::set_global_default(Subscriber).expect("it is the only one"));
}

/// The warnings so far that have these words.
pub fn with(words: &str) -> Vec<String> {
    let lines = LINES.lock().expect("nobody panics here");
    lines.iter().filter(|line| line.contains(words)).cloned().collect()
}

impl tracing::Subscriber for Subscriber {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::WARN
    }

    fn event(&self, event: &tracing::Event<'_>) {
        struct Text(String);
        impl tracing::field::Visit for Text {
            fn record_debug(&mut self, _: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                self.0.push_str(&format!("{value:?}"));
            }
        }
        let mut text = Text(String::new());
        event.record(&mut text);
        LINES.lock().expect("nobody panics here").push(text.0);
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}
