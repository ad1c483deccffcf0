//! Hurl files as load: each virtual user of a run walks through one file after another.

mod encode;
mod given;
mod observer;
mod secrets;
mod settings;
mod thread;

pub use observer::{Ended, SessionObserver};
pub use secrets::Secrets;
pub use settings::{HurlUsers, RunSettings, SessionFile};

use std::collections::BTreeSet;
use thread::HurlThread;
use torr_gauge::sessions::EntryName;
use torr_press::learnt::LearntServers;
use torr_press::users::{ThreadPart, ThreadUsers, Users};

impl Users for HurlUsers {
    fn entries(&self) -> Vec<EntryName> {
        self.files.iter().flat_map(|file| file.entry_names()).collect()
    }

    fn methods(&self) -> Option<String> {
        let entries = self.files.iter().flat_map(|file| &file.session().entries);
        let methods: BTreeSet<&str> = entries.map(|entry| entry.request.method()).collect();
        Some(methods.into_iter().collect::<Vec<_>>().join(","))
    }

    fn learnt(&self) -> Option<&LearntServers> {
        self.learnt.as_deref()
    }

    fn thread(&self, part: ThreadPart) -> Box<dyn ThreadUsers + '_> {
        Box::new(HurlThread::new(self, &part))
    }
}
