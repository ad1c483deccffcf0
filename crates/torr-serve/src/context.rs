//! What every connection of a worker needs to answer.

use crate::app::App;
use crate::guest::Local;
use crate::mailbox::Mailbox;
use crate::pool::Pool;
use crate::settings::Settings;
use crate::stamp::Stamp;
use std::io;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;
use torr_net::tls::TlsAcceptor;

/// What does not change, and is shared with connections that have left the engine.
pub(crate) struct Desk {
    pub app: Arc<App>,
    /// The worker's copy of the application's router.
    pub router: Option<Local>,
    pub settings: Arc<Settings>,
    /// Threads for handlers that block.
    pub pool: Pool,
    pub mailbox: Arc<Mailbox>,
    /// How TLS is spoken, if it is.
    pub tls: Option<TlsAcceptor>,
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

    /// What a worker shares with the others, and its own.
    ///
    /// # Errors
    /// If the kernel has no room for one more descriptor.
    pub fn new(app: Arc<App>, settings: Arc<Settings>, pool: Pool, tls: Option<TlsAcceptor>) -> io::Result<Self> {
        let (router, stamp) = (app.local(), Stamp::new(settings.server_name));
        let mailbox = Mailbox::new()?;
        Ok(Self { desk: Rc::new(Desk { app, router, settings, pool, mailbox, tls }), stamp, leaving: false })
    }
}

impl Deref for Context {
    type Target = Desk;

    #[inline]
    fn deref(&self) -> &Desk {
        &self.desk
    }
}
