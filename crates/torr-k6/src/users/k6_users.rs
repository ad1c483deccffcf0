//! The virtual users of a run as the load engine takes them.

use super::load::Load;
use super::thread::ThreadVus;
use crate::control::StopCause;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use torr_gauge::sessions::EntryName;
use torr_press::learnt::LearntServers;
use torr_press::users::{ThreadPart, ThreadUsers, Users};

/// The virtual users of a run as the load engine takes them.
#[derive(Debug)]
pub struct K6Users(pub Arc<Load>);

impl Users for K6Users {
    fn entries(&self) -> Vec<EntryName> {
        vec![EntryName {
            name: "request".to_owned(),
            file: self.0.program.main().to_owned(),
            line: 1,
            asserts: Vec::new(),
        }]
    }

    fn thread(&self, part: ThreadPart) -> Box<dyn ThreadUsers + '_> {
        Box::new(ThreadVus::new(&self.0, part.thread))
    }

    fn has_sessions(&self) -> bool {
        false
    }

    fn learnt(&self) -> Option<&LearntServers> {
        Some(&self.0.servers)
    }

    fn may_park(&self) -> bool {
        true
    }

    fn error(&self) -> Option<String> {
        match self.0.control().cause() {
            Some(StopCause::Failed(error)) => Some(error.to_string()),
            _ => None,
        }
    }

    fn given_up(&self, _thread: usize) {
        self.0.is_over.store(true, Ordering::Release);
    }
}
