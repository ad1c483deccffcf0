//! The users of a run whose sessions are iterations, as the load engine takes them.

use super::session_run::{SessionRun, stop_error};
use super::thread::SessionThread;
use std::sync::Arc;
use torr_gauge::sessions::EntryName;
use torr_press::learnt::LearntServers;
use torr_press::users::{ThreadPart, ThreadUsers, Users};

/// The users of a run whose sessions are iterations.
#[derive(Debug)]
pub(super) struct SessionUsers(pub Arc<SessionRun>);

impl Users for SessionUsers {
    fn entries(&self) -> Vec<EntryName> {
        // The folder says nothing, and is another one on each machine of a fleet.
        let main = self.0.program.main();
        self.0.entries.names(main.rsplit('/').next().unwrap_or(main))
    }

    fn thread(&self, part: ThreadPart) -> Box<dyn ThreadUsers + '_> {
        Box::new(SessionThread::new(&self.0, part))
    }

    fn learnt(&self) -> Option<&LearntServers> {
        Some(&self.0.learnt)
    }

    fn may_park(&self) -> bool {
        true
    }

    fn error(&self) -> Option<String> {
        stop_error(&self.0.run).map(|error| error.to_string())
    }
}
