//! Servers that a run learns of while it runs: by a URL in a response, or a redirect.

use super::destination::Destination;
use super::renewal::Renewal;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;
use torr_net::Address;

/// The limit of servers that a run learns of, those among them to which there is no way: each may take a connection of every
/// user, and a faulty service could name a new one in each response.
pub const MOST_LEARNT: usize = 64;

/// Finds the way to the server of an origin, such as `https://a.test:8443`; otherwise returns why there is none, in one line.
pub type Find = Box<dyn Fn(&str) -> Result<Destination, String> + Send + Sync>;
/// Returns why no request may go to a server.
type Forbid = dyn Fn(&Destination) -> Option<String> + Send + Sync;

/// The servers that a run has learnt of. A thread of its own resolves each name, so that no load thread waits for it.
pub struct LearntServers {
    /// The number of servers that were known before the run: the number of the first one here.
    known: usize,
    find: Find,
    /// The rules that each server has to meet.
    rules: Mutex<Vec<Box<Forbid>>>,
    /// The servers by number, which never change.
    found: [OnceLock<Destination>; MOST_LEARNT],
    /// The number of those.
    count: AtomicUsize,
    states: Mutex<HashMap<String, Lookup>>,
    /// The look-ups of names again; `None` for one of each name in the whole run.
    renewal: Option<Arc<Renewal>>,
}

/// Returns how long a user waits before it sees whether a server was found, where it has done so this number of times: a
/// name that the machine knows takes no time, and users by the thousand that wait for another must not keep a thread busy.
pub fn pause(times: u32) -> Duration {
    Duration::from_millis(1 << times.min(8))
}

/// The state of an origin's lookup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// The number of its server.
    Server(usize),
    /// The origin is being looked up.
    Pending,
    /// No request can go there, for this reason.
    Refused(String),
}

impl fmt::Debug for LearntServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LearntServers").field("known", &self.known).field("states", &self.states()).finish()
    }
}

impl LearntServers {
    /// Returns an empty list for a run that knows this number of servers before it begins, its own among them.
    pub fn new(known: usize, find: impl Fn(&str) -> Result<Destination, String> + Send + Sync + 'static) -> Self {
        Self {
            known,
            find: Box::new(find),
            rules: Mutex::default(),
            found: [const { OnceLock::new() }; MOST_LEARNT],
            count: AtomicUsize::new(0),
            states: Mutex::default(),
            renewal: None,
        }
    }

    /// Looks up the names of servers again after a time, for the connections that are opened from then on. `resolve` returns the addresses
    /// for an origin.
    #[must_use]
    pub fn renewed_after(
        self,
        after: Duration,
        resolve: impl Fn(&str) -> Result<Vec<Address>, String> + Send + Sync + 'static,
    ) -> Self {
        Self { renewal: Some(Arc::new(Renewal::new(after, resolve))), ..self }
    }

    /// Returns the address for the n-th connection to the server at this position, where names are looked up again.
    pub(crate) fn renewed(&self, position: usize, n: usize) -> Option<Address> {
        self.renewal.as_ref()?.address(position, self.get(position)?, n)
    }

    /// Lets requests go only to servers for which `forbid` returns no reason, and that all rules before it allow.
    pub fn forbid(&self, forbid: impl Fn(&Destination) -> Option<String> + Send + Sync + 'static) {
        self.rules().push(Box::new(forbid));
    }

    /// Returns what is known of the server of an origin. The first call for an origin begins to look for it.
    pub fn look_up(self: &Arc<Self>, origin: &str) -> Lookup {
        let mut states = self.states();
        if let Some(state) = states.get(origin) {
            return state.clone();
        }
        if states.len() >= MOST_LEARNT {
            return Lookup::Refused(format!(
                "the request goes to {origin}, but a run can use at most {MOST_LEARNT} servers: split the session, or \
                 check which response names so many"
            ));
        }
        states.insert(origin.to_owned(), Lookup::Pending);
        drop(states);
        let (servers, name) = (Arc::clone(self), origin.to_owned());
        let find = move || {
            let state = servers.find(&name);
            servers.states().insert(name, state);
        };
        match thread::Builder::new().name("find-server".into()).spawn(find) {
            Ok(_) => Lookup::Pending,
            Err(error) => {
                let why = Lookup::Refused(format!("the request goes to {origin}: cannot start a thread: {error}"));
                self.states().insert(origin.to_owned(), why.clone());
                why
            }
        }
    }

    /// Returns the server that was learnt as the one at this position, from 0.
    pub(crate) fn get(&self, position: usize) -> Option<&Destination> {
        self.found.get(position)?.get()
    }

    /// Returns whether no server was learnt yet.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    fn find(&self, origin: &str) -> Lookup {
        let found = (self.find)(origin).and_then(|server| {
            let forbidden = self.rules().iter().find_map(|forbid| forbid(&server));
            forbidden.map_or(Ok(server), Err)
        });
        let server = match found {
            Ok(server) => server,
            Err(why) => return Lookup::Refused(format!("the request goes to {origin}: {why}")),
        };
        // The lock makes the numbers follow one another.
        let _numbering = self.states();
        let position = self.count.load(Ordering::Relaxed);
        if self.found.get(position).is_none_or(|slot| slot.set(server).is_err()) {
            return Lookup::Refused(format!("the request goes to {origin}: too many servers"));
        }
        self.count.store(position + 1, Ordering::Release);
        Lookup::Server(self.known + position)
    }

    fn rules(&self) -> MutexGuard<'_, Vec<Box<Forbid>>> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn states(&self) -> MutexGuard<'_, HashMap<String, Lookup>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::servers::target::Target;
    use std::time::Instant;

    fn destination(url: &str) -> Result<Destination, String> {
        let target = Target::parse(url).map_err(|error| error.to_string())?;
        Ok(Destination { target, addresses: Vec::new(), tunnel: None, tls: None })
    }

    fn settled(servers: &Arc<LearntServers>, origin: &str) -> Lookup {
        let begun = Instant::now();
        loop {
            match servers.look_up(origin) {
                Lookup::Pending if begun.elapsed() < Duration::from_secs(10) => thread::yield_now(),
                state => return state,
            }
        }
    }

    #[test]
    fn each_origin_has_one_number_and_one_look_up() {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let servers = Arc::new(LearntServers::new(3, move |origin| {
            counted.fetch_add(1, Ordering::Relaxed);
            if origin.contains("none") { Err("cannot resolve 'none'".into()) } else { destination(origin) }
        }));
        assert!(servers.is_empty());
        assert_eq!(settled(&servers, "http://a"), Lookup::Server(3));
        assert_eq!(settled(&servers, "http://b"), Lookup::Server(4));
        assert_eq!(settled(&servers, "http://a"), Lookup::Server(3));
        let why = "the request goes to http://none: cannot resolve 'none'";
        assert_eq!(settled(&servers, "http://none"), Lookup::Refused(why.into()));
        assert_eq!(
            (calls.load(Ordering::Relaxed), servers.get(1).map(|b| b.target.host.clone())),
            (3, Some("b".into()))
        );
        assert!(!servers.is_empty() && servers.get(2).is_none());
    }

    #[test]
    fn a_service_that_names_ever_new_servers_meets_a_limit() {
        let servers = Arc::new(LearntServers::new(1, destination));
        for number in 0..MOST_LEARNT {
            assert!(matches!(settled(&servers, &format!("http://h{number}")), Lookup::Server(_)), "{number}");
        }
        let Lookup::Refused(why) = settled(&servers, "http://more") else { panic!("there is no limit") };
        assert!(why.contains("http://more") && why.contains("at most 64 servers"), "{why}");
        assert_eq!(settled(&servers, "http://h7"), servers.look_up("http://h7"));
    }

    #[test]
    fn what_is_forbidden_is_refused_with_its_reason() {
        let servers = Arc::new(LearntServers::new(1, destination));
        servers.forbid(|server| (server.target.host == "foreign").then(|| "not yours".into()));
        servers.forbid(|server| (server.target.host == "later").then(|| "not now".into()));
        assert_eq!(settled(&servers, "http://ours"), Lookup::Server(1));
        let Lookup::Refused(why) = settled(&servers, "http://foreign") else { panic!("it was not refused") };
        assert_eq!(why, "the request goes to http://foreign: not yours");
        assert!(matches!(settled(&servers, "http://later"), Lookup::Refused(_)), "each rule holds");
    }
}
