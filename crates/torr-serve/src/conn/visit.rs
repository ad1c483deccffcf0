//! The data of a request beside its message: the client behind a proxy, the request's id, and its line in the access log.
//! Nothing is gathered unless a setting enables it.

use crate::client::forwarded::Forwarded;
use crate::client::request_id::{FIELD, RequestId, RequestIds};
use crate::client::{Client, Origin};
use crate::observe::access_log::{AccessLog, Entry, RequestLine, Writer};
use crate::settings::Settings;
use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A worker's generator of ids, writer of the access log, and settings.
pub(crate) struct Visits {
    settings: Arc<Settings>,
    ids: Option<RefCell<RequestIds>>,
    log: Option<Rc<RefCell<Writer>>>,
}

/// The data of a request that is kept until its response is sent.
#[derive(Default)]
pub(crate) struct Note {
    /// The id, which the response has in a field.
    pub id: Option<RequestId>,
    line: Option<Box<Line>>,
}

/// A line of the access log, which is written on drop, and so however the response ends.
struct Line {
    log: Rc<RefCell<Writer>>,
    begin: Instant,
    unix_ms: u64,
    client: Option<IpAddr>,
    request: Option<[String; 3]>,
    host: Option<Vec<u8>>,
    referer: Option<Vec<u8>>,
    user_agent: Option<Vec<u8>>,
    id: Option<RequestId>,
    tls: Option<String>,
    status: u16,
    sent: u64,
}

/// The status of a request whose client closed before the response, as in nginx.
const GONE: u16 = 499;

impl Visits {
    pub fn new(settings: Arc<Settings>, log: Option<&AccessLog>) -> Self {
        let ids = settings.request_ids.then(|| RefCell::new(RequestIds::new()));
        Self { ids, log: log.map(|log| Rc::new(RefCell::new(log.writer()))), settings }
    }

    /// Returns whether a setting requires notes of requests.
    #[inline]
    pub fn are_noted(&self) -> bool {
        self.ids.is_some() || self.log.is_some() || !self.settings.trusted_proxies.is_empty()
    }

    /// Begins a request. Returns its client and its note. `line` is method, target and protocol.
    pub fn begin(&self, peer: &Client, line: [&str; 3], fields: &[(&str, &[u8])]) -> (Client, Note) {
        let mut client = peer.clone();
        let field = |name: &str| fields.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|found| found.1);
        // A proxy that does not know its client forwards fields that the client has made up.
        let trusted =
            !peer.is_unknown && self.settings.trusted_proxies.trusts(peer.address.map(|address| address.ip()));
        if trusted {
            let by = self.settings.forwarded_field;
            let forwarded = Forwarded::of(peer.address, &self.settings.trusted_proxies, by, fields.iter().copied());
            client.address = forwarded.client;
            let (scheme, host) = (forwarded.scheme, forwarded.host.map(str::to_owned));
            client.origin = Some(Arc::new(Origin { proxy: peer.address, scheme, host }));
        }
        client.id = self.ids.as_ref().map(|ids| ids.borrow_mut().of(field(FIELD), trusted));
        let line = self.log.as_ref().map(|log| {
            let owned = |name| field(name).map(<[u8]>::to_vec);
            let mut noted = Box::new(Line::new(log, &client));
            noted.request = Some(line.map(str::to_owned));
            (noted.host, noted.referer, noted.user_agent) = (owned("host"), owned("referer"), owned("user-agent"));
            noted
        });
        let note = Note { id: client.id.clone(), line };
        (client, note)
    }

    /// Begins a malformed request.
    pub fn malformed(&self, peer: &Client) -> Note {
        Note { id: None, line: self.log.as_ref().map(|log| Box::new(Line::new(log, peer))) }
    }

    /// Writes the gathered lines of the access log.
    pub fn flush(&self) {
        self.log.iter().for_each(|log| log.borrow_mut().flush());
    }
}

impl Note {
    /// Notes the response's status, and the bytes of its content that are sent with its header section.
    pub fn answered(&mut self, status: u16, bytes: u64) {
        if let Some(line) = &mut self.line {
            line.status = status;
            line.sent += bytes;
        }
    }

    /// Adds bytes of the content that are sent.
    #[inline]
    pub fn sent(&mut self, bytes: u64) {
        if let Some(line) = &mut self.line {
            line.sent += bytes;
        }
    }
}

impl Line {
    fn new(log: &Rc<RefCell<Writer>>, client: &Client) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            log: Rc::clone(log),
            begin: Instant::now(),
            unix_ms: u64::try_from(now.as_millis()).unwrap_or(u64::MAX),
            client: client.address.map(|address| address.ip()),
            request: None,
            host: None,
            referer: None,
            user_agent: None,
            id: client.id.clone(),
            tls: client.tls.as_ref().map(|tls| tls.version.clone()),
            status: GONE,
            sent: 0,
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let request = self.request.as_ref().map(|[method, target, protocol]| RequestLine { method, target, protocol });
        self.log.borrow_mut().add(&Entry {
            unix_ms: self.unix_ms,
            client: self.client,
            request,
            status: self.status,
            body_bytes: self.sent,
            duration: self.begin.elapsed(),
            host: self.host.as_deref(),
            referer: self.referer.as_deref(),
            user_agent: self.user_agent.as_deref(),
            request_id: self.id.as_ref(),
            tls: self.tls.as_deref(),
        });
    }
}
