//! Hurl files as load: each virtual user of a run walks through one file after another.

mod encode;
mod given;
mod observer;
mod settings;
mod thread;

pub use observer::{Ended, SessionObserver};
pub use settings::{HurlUsers, RunSettings, SessionFile};

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use thread::HurlThread;
use torr_gauge::sessions::EntryName;
use torr_press::learnt::LearntServers;
use torr_press::users::{DecisionCount, ThreadPart, ThreadUsers, Users};

impl Users for HurlUsers {
    fn entries(&self) -> Vec<EntryName> {
        self.files.iter().flat_map(|file| file.entry_names()).collect()
    }

    fn methods(&self) -> Option<String> {
        let entries = self.files.iter().flat_map(|file| &file.session().entries);
        let methods: BTreeSet<&str> = entries.map(|entry| entry.request.method()).collect();
        Some(methods.into_iter().collect::<Vec<_>>().join(","))
    }

    fn secrets(&self) -> Vec<String> {
        self.settings.secrets.clone()
    }

    fn learnt(&self) -> Option<&LearntServers> {
        self.learnt.as_deref()
    }

    fn thread(&self, part: ThreadPart) -> Box<dyn ThreadUsers + '_> {
        let decisions = self.decisions.get_or_init(|| (0..part.threads).map(|_| DecisionCount::default()).collect());
        Box::new(HurlThread::new(self, &part, &decisions[part.thread % decisions.len()]))
    }

    fn decisions(&self, thread: usize) -> u64 {
        self.decisions.get().and_then(|decisions| decisions.get(thread)).map_or(0, DecisionCount::get)
    }

    fn error(&self) -> Option<String> {
        let what =
            "captures and asserts were still being evaluated 2 s after the end of the run: simplify their expressions";
        self.is_given_up.load(Ordering::Relaxed).then(|| what.to_owned())
    }

    fn given_up(&self, _thread: usize) {
        self.is_given_up.store(true, Ordering::Relaxed);
    }
}
