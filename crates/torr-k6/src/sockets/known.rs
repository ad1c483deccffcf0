//! The ways to servers, which are looked up once for a while.

use super::grpc::GrpcServer;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::spawn_blocking;
use torr_press::Destination;

/// The time after which the way to a server is looked up again.
const LOOK_UP_AGAIN: Duration = Duration::from_secs(300);

/// Returns the way to a server. It may block.
pub type Find<S> = Arc<dyn Fn(&S) -> Result<Destination, String> + Send + Sync>;

/// What finds the ways to servers.
pub struct Ways {
    /// The way to the server of an origin, for WebSockets.
    pub websocket: Find<String>,
    /// The way to a server of gRPC.
    pub grpc: Find<GrpcServer>,
}

impl fmt::Debug for Ways {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Ways").finish_non_exhaustive()
    }
}

/// The ways to the servers that were looked up.
pub(super) struct Known {
    /// The addresses that connections come from, each user's from its own; none for the system's choice.
    sources: Vec<IpAddr>,
    websocket: Found<String>,
    grpc: Found<GrpcServer>,
}

impl Known {
    pub fn new(ways: Ways, sources: Vec<IpAddr>) -> Self {
        Self { sources, websocket: Found::new(ways.websocket), grpc: Found::new(ways.grpc) }
    }

    /// Returns the address that the connections of a virtual user come from.
    pub fn source(&self, user: u64) -> Option<IpAddr> {
        let at = user.checked_rem(self.sources.len() as u64)?;
        self.sources.get(at as usize).copied()
    }

    /// Returns the way to the server of an origin, for WebSockets.
    pub async fn websocket(&self, origin: &str) -> Result<Rc<Destination>, String> {
        self.websocket.get(&origin.to_owned()).await
    }

    /// Returns the way to a server of gRPC.
    pub async fn grpc(&self, server: &GrpcServer) -> Result<Rc<Destination>, String> {
        self.grpc.get(server).await
    }
}

/// The ways to servers of one kind.
struct Found<S> {
    find: Find<S>,
    found: RefCell<HashMap<S, (Instant, Rc<Destination>)>>,
}

impl<S: Hash + Eq + Clone + Send + 'static> Found<S> {
    fn new(find: Find<S>) -> Self {
        Self { find, found: RefCell::default() }
    }

    async fn get(&self, server: &S) -> Result<Rc<Destination>, String> {
        let known = self.found.borrow().get(server).cloned();
        if let Some((_, destination)) = known.filter(|(at, _)| at.elapsed() < LOOK_UP_AGAIN) {
            return Ok(destination);
        }
        let (find, wanted) = (self.find.clone(), server.clone());
        let looked_up = spawn_blocking(move || find(&wanted)).await;
        let destination = Rc::new(looked_up.map_err(|error| error.to_string())??);
        self.found.borrow_mut().insert(server.clone(), (Instant::now(), destination.clone()));
        Ok(destination)
    }
}
