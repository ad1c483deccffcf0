//! What every connection of a worker needs to answer.

use crate::app::App;
use crate::guest::Local;
use crate::mailbox::Mailbox;
use crate::pool::Pool;
use crate::settings::Settings;
use crate::stamp::Stamp;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

/// What does not change, and is shared with connections that have left the engine.
pub(crate) struct Desk {
    pub app: Arc<App>,
    /// The worker's copy of the application's router.
    pub router: Option<Local>,
    pub settings: Arc<Settings>,
    /// Threads for handlers that block.
    pub pool: Pool,
    pub mailbox: Arc<Mailbox>,
}

pub(crate) struct Context {
    pub desk: Rc<Desk>,
    pub stamp: Stamp,
    /// The server is leaving: every answer ends its connection.
    pub leaving: bool,
}

impl Context {
    /// The same, for a server that may be leaving.
    pub fn another(&self, leaving: bool) -> Self {
        Self { desk: Rc::clone(&self.desk), stamp: self.stamp.clone(), leaving }
    }

    pub fn new(app: Arc<App>, settings: Arc<Settings>, pool: Pool, mailbox: Arc<Mailbox>) -> Self {
        let (router, stamp) = (app.local(), Stamp::new(settings.server_name));
        Self { desk: Rc::new(Desk { app, router, settings, pool, mailbox }), stamp, leaving: false }
    }
}

impl Deref for Context {
    type Target = Desk;

    #[inline]
    fn deref(&self) -> &Desk {
        &self.desk
    }
}
