//! One request, and the events of its response.

use super::event::StreamEvent;
use super::reader::{Part, StreamReader};
use crate::sockets::handle::Counts;
use crate::sockets::known::Known;
use crate::sockets::outlet::Outlet;
use crate::sockets::reach::reach;
use crate::sockets::response::Response;
use crate::sockets::wire::Wire;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use torr_wire::Header;
use torr_wire::response::{HeadCache, Observer, ResponseReader};

/// The time-out of a response that has not begun, as k6 shows it.
const TIMED_OUT: &str = "i/o timeout";

/// A request whose response is an event stream.
#[derive(Debug)]
pub struct EventRequest {
    /// The number of the stream.
    pub id: u64,
    /// Scheme, host and port.
    pub origin: String,
    /// The request, with its content.
    pub request: Vec<u8>,
    /// Whether the response has no content: the request is a HEAD.
    pub is_head: bool,
    /// The number of the virtual user.
    pub user: u64,
    /// The time after which a response that has not begun has failed.
    pub timeout: Duration,
}

/// What a script has of its stream, which ends when this value is dropped.
#[derive(Debug)]
pub struct StreamHandle {
    counts: Arc<Counts>,
    _alive: oneshot::Sender<()>,
}

impl StreamHandle {
    /// Takes the numbers of bytes that were sent and received since the last call.
    pub fn take_transferred(&self) -> (u64, u64) {
        self.counts.take_transferred()
    }
}

/// A stream on its way to the thread.
pub(in crate::sockets) struct Carried {
    request: EventRequest,
    outlet: Outlet,
    counts: Arc<Counts>,
    gone: oneshot::Receiver<()>,
}

impl Carried {
    /// Returns a stream whose events go to an outlet, and its handle.
    pub fn new(request: EventRequest, outlet: Outlet) -> (StreamHandle, Self) {
        let (alive, gone) = oneshot::channel();
        let counts = Arc::new(Counts::default());
        let handle = StreamHandle { counts: counts.clone(), _alive: alive };
        (handle, Self { request, outlet, counts, gone })
    }

    /// Sends the request, and hands over the events of its response until it ends or the script has let go of it.
    pub async fn run(self, known: Rc<Known>) {
        let Self { request, outlet, counts, gone } = self;
        let id = request.id;
        let carried = async {
            let last = match stream(&request, &outlet, counts, &known).await {
                Ok(()) => StreamEvent::Ended,
                Err(Fault::Failed(why)) => StreamEvent::Failed(why),
                Err(Fault::Untaken) => return,
            };
            outlet.hand_over(id, last).await;
        };
        tokio::select! {
            () = carried => {}
            _ = gone => {}
        }
    }
}

/// The reason for which a stream ends early.
enum Fault {
    /// It has failed, for the reason in the text.
    Failed(String),
    /// Its events are not taken any more.
    Untaken,
}

impl From<String> for Fault {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

async fn stream(request: &EventRequest, outlet: &Outlet, counts: Arc<Counts>, known: &Known) -> Result<(), Fault> {
    let began = Instant::now();
    let (mut reader, mut arrived) = (ResponseReader::default(), Arrived { began, ..Arrived::default() });
    let opened = tokio::time::timeout(request.timeout, async {
        let destination = known.websocket(&request.origin).await?;
        let mut wire = reach(&destination, known.source(request.user), counts, began).await?;
        wire.send(&request.request)?;
        while arrived.head.is_none() {
            let is_complete = decode(&mut reader, request, &mut wire, &mut arrived)?;
            if arrived.head.is_none() {
                if is_complete || wire.has_ended {
                    return Err("EOF".to_owned());
                }
                wire.turn(true).await?;
            } else if is_complete {
                arrived.is_complete = true;
            }
        }
        Ok(wire)
    });
    let mut wire = opened.await.unwrap_or_else(|_| Err(TIMED_OUT.to_owned()))?;
    if let Some(head) = arrived.head.take() {
        hand_over(outlet, request.id, StreamEvent::Opened(head)).await?;
    }
    loop {
        for part in std::mem::take(&mut arrived.parts) {
            let event = match part {
                Part::Event(event) => StreamEvent::Event(event),
                Part::Unknown(line) => StreamEvent::Unknown(line),
                Part::TooLarge => return Err("an event is larger than 16 MiB".to_owned().into()),
            };
            hand_over(outlet, request.id, event).await?;
        }
        if arrived.is_complete {
            return Ok(());
        }
        if wire.plain.is_empty() {
            if wire.has_ended {
                reader.end().map_err(|_| "unexpected EOF".to_owned())?;
                return Ok(());
            }
            wire.turn(true).await?;
        }
        arrived.is_complete = decode(&mut reader, request, &mut wire, &mut arrived)?;
    }
}

async fn hand_over(outlet: &Outlet, id: u64, event: StreamEvent) -> Result<(), Fault> {
    if outlet.hand_over(id, event).await { Ok(()) } else { Err(Fault::Untaken) }
}

/// Decodes what has arrived. Returns whether the response is complete.
fn decode(
    reader: &mut ResponseReader,
    request: &EventRequest,
    wire: &mut Wire,
    arrived: &mut Arrived,
) -> Result<bool, String> {
    if wire.plain.is_empty() {
        return Ok(false);
    }
    let read = reader.observe(&wire.plain, request.is_head, &mut HeadCache::default(), arrived);
    let (used, response) = read.map_err(|error| format!("malformed HTTP response: {error}"))?;
    wire.plain.drain(..used);
    Ok(response.is_some())
}

/// What has arrived and was not handed over.
struct Arrived {
    began: Instant,
    head: Option<Response>,
    events: StreamReader,
    parts: Vec<Part>,
    is_complete: bool,
}

impl Default for Arrived {
    fn default() -> Self {
        let (events, parts) = (StreamReader::default(), Vec::new());
        Self { began: Instant::now(), head: None, events, parts, is_complete: false }
    }
}

impl Observer for Arrived {
    fn head(&mut self, status: u16, fields: &[Header<'_>]) {
        // Interim responses precede the one that counts (RFC 9110, section 15.2).
        if status >= 200 || status == 101 {
            let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
            // The framing of the connection is no field of the response, as for Go's clients.
            let fields = fields.iter().filter(|field| !field.name.eq_ignore_ascii_case("transfer-encoding"));
            let fields = fields.map(|field| (field.name.to_owned(), text(field.value))).collect();
            self.head = Some(Response { took: self.began.elapsed(), status, fields, body: Vec::new() });
        }
    }

    fn body(&mut self, piece: &[u8]) {
        let Self { events, parts, .. } = self;
        events.read(piece, |part| parts.push(part));
    }
}
