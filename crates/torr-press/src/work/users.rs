//! Virtual users: the interface between the engine and what decides, response by response, what a user sends next.
//!
//! A user has a connection of its own to each server and walks through sessions, one after another. The engine asks for
//! the next step, sends the request, hands over the response, and asks again; when a session may begin is the pacer's to
//! say.

mod decision_count;

pub use decision_count::DecisionCount;

use crate::pace::logged::LogTimes;
use crate::request::outgoing::{RequestInfo, RequestParts};
use crate::response::events::StreamEvent;
use crate::response::kept::KeptResponse;
use crate::servers::learnt::LearntServers;
use bytes::Bytes;
use std::collections::VecDeque;
use std::fmt::Debug;
use std::net::{IpAddr, SocketAddr};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use torr_gauge::sessions::EntryName;
use torr_gauge::{Failure, RunResult};
use torr_net::Nanos;
use torr_net::WakeUp;
use torr_net::tls::NegotiatedTls;
use torr_wire::websocket::Kind;

/// The behaviour of a run's virtual users, shared by all threads.
pub trait Users: Debug + Send + Sync {
    /// Returns the names of all entries, in the order of their numbers.
    fn entries(&self) -> Vec<EntryName>;

    /// Returns the users of one thread.
    fn thread(&self, part: ThreadPart) -> Box<dyn ThreadUsers + '_>;

    /// Returns the methods of all entries with commas between them, `None` where they are known only in the run.
    fn methods(&self) -> Option<String> {
        None
    }

    /// Returns the secrets that no output shows, whichever user has sent them.
    fn secrets(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns whether results tell of sessions. Without that a session is one request, and results tell of requests only.
    fn has_sessions(&self) -> bool {
        true
    }

    /// Returns the times of the requests in the log that they are taken from, and the number of the next one there; `None` where there
    /// are no such times.
    fn logged(&self) -> Option<(LogTimes, u64)> {
        None
    }

    /// Returns the only address that a thread connects to, where it is not to be the plan's.
    fn address(&self, _thread: usize) -> Option<SocketAddr> {
        None
    }

    /// Returns the servers that the users learn of during the run; `None` where all are known before.
    fn learnt(&self) -> Option<&LearntServers> {
        None
    }

    /// Returns a number that grows by one whenever code begins to decide that may not come to an end, and again when it has
    /// decided: while the number is odd, such code is running on the thread.
    fn decisions(&self, _thread: usize) -> u64 {
        0
    }

    /// Returns the error that ended the run, if the users' own code had one.
    fn error(&self) -> Option<String> {
        None
    }

    /// Returns what the users have to say of themselves at the beginning of a run, in one line without a full stop.
    fn note(&self) -> Option<String> {
        None
    }

    /// Adds to the result of the run what the users have measured themselves.
    fn complete(&self, _result: &mut RunResult) {}

    /// Notes that the run ends without a thread, whose users did not decide in time.
    fn given_up(&self, _thread: usize) {}

    /// Returns whether users may park, and are woken by [`ThreadUsers::woken`].
    fn may_park(&self) -> bool {
        false
    }
}

/// The part of a run that one thread has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadPart {
    /// The number of the thread, from 0.
    pub thread: usize,
    /// The number of threads.
    pub threads: usize,
    /// The numbers of the thread's users, among all users of the run.
    pub users: Range<usize>,
    /// The number of users before those of this run, where several generators share a plan.
    pub before: usize,
    /// Whether a connection carries more than one request.
    pub keep_alive: bool,
}

/// The virtual users of one thread, named by their position among them.
pub trait ThreadUsers {
    /// Begins a session of a user.
    fn begin(&mut self, user: usize);

    /// Returns what the user does next. Called at the beginning of a session, after each response, and after each pause.
    fn next(&mut self, user: usize) -> Step;

    /// Returns the number of the server that the user's next request goes to: 0 for the plan's own, then come those of
    /// [`Plan::further`](crate::Plan::further), then those that were learnt.
    fn destination(&self, _user: usize) -> usize {
        0
    }

    /// Appends the user's request in HTTP/1.1. Called again when the request has to be sent on another connection.
    fn write(&mut self, user: usize, out: &mut Vec<u8>) -> RequestInfo;

    /// Takes the content of the request that was written last, where that was left out of what was appended: it is large and in
    /// memory that all connections share.
    fn take_content(&mut self) -> Option<Bytes> {
        None
    }

    /// Returns the user's request in parts, for HTTP/2.
    fn parts(&mut self, user: usize) -> RequestParts;

    /// Notes that the user is about to get a response: what it keeps for that may be brought into the CPU's caches meanwhile.
    fn expect(&self, _user: usize) {}

    /// Takes events of the stream that responds to the request in flight, of a request that
    /// [has them handed over](RequestInfo::hands_events). `response` is that stream as far as it has arrived. Events that were not taken
    /// do not count.
    fn arrived(&mut self, _user: usize, _response: &KeptResponse, events: &mut VecDeque<StreamEvent>) -> AfterEvents {
        events.clear();
        AfterEvents::Await
    }

    /// Notes that the request in flight has [opened a WebSocket](RequestInfo::opens_websocket), whose messages are the events of a stream.
    /// The user takes its next step then.
    fn switched(&mut self, _user: usize, _response: &KeptResponse) {}

    /// Takes the message that the user sends with [`Step::Message`].
    fn take_message(&mut self, _user: usize) -> Option<Message> {
        None
    }

    /// Judges the response to the request in flight.
    fn received(&mut self, user: usize, received: &ReceivedBy<'_>) -> Judged;

    /// Returns whether the user sends the request in flight again, which has failed without a response.
    fn retries(&mut self, _user: usize, _failure: &Failure) -> bool {
        false
    }

    /// Notes that the request in flight has failed, which ends the session.
    fn failed(&mut self, user: usize, failure: &Failure);

    /// Notes that the request in flight has failed, of users that may park. Returns whether the session goes on nevertheless, which it
    /// then does at once, without back-off. `transferred` are the bytes on the connection since the request before.
    fn outlives(&mut self, _user: usize, _failure: &Failure, _phases: &Phases, _transferred: Transferred) -> bool {
        false
    }

    /// Returns the time-out of the user's request in flight, where that may be shorter than the plan's. Called only for users that may
    /// park.
    fn timeout(&self, _user: usize) -> Option<Duration> {
        None
    }

    /// Takes the event by which other threads make the event loop look for parked users at once. Called once, before the run begins,
    /// where users may park.
    fn woken_by(&mut self, _wake_up: &Arc<WakeUp>) {}

    /// Returns a parked user that is to go on, or one whose requests are given up; `None` if there is none now. Called once a turn of
    /// the event loop until there is none, where users may park.
    fn woken(&mut self, _now: Nanos) -> Option<Wake> {
        None
    }

    /// Returns the time of the run's clock at which [`woken`](Self::woken) may have a user without anything that happens before: a time
    /// that has passed if there is one now, the maximum if none is known.
    fn next_wake(&self) -> Nanos {
        Nanos::MAX
    }

    /// Returns the secrets that a user sent with its latest request, beside those of [`Users::secrets`]: the server may
    /// have sent them back. Called for few of the responses that [`received`](Self::received) did not let pass.
    fn secrets(&self, _user: usize) -> Vec<String> {
        Vec::new()
    }

    /// Returns whether the run must end now, since the users cannot go on.
    fn is_over(&self) -> bool {
        false
    }

    /// Returns whether this thread's part of the run ends now.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// The next step of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Sends a request of the entry with this number.
    Send(u32),
    /// Sends so many requests of the entry with this number, 1 or more, without waiting for responses between them.
    SendAll(u32, u16),
    /// Waits for responses to requests in flight, and their events.
    Await,
    /// Sends a message on the WebSocket that the request in flight has opened, and goes on.
    Message,
    /// Leaves the stream that responds to the request in flight.
    Leave,
    /// Waits until the user is woken.
    Park,
    /// Waits.
    Pause(Duration),
    /// Waits for a server to be looked up, and sees then whether it was found.
    LookUp(Duration),
    /// Has come to the end of the session.
    Finished,
    /// Gives up at the entry with this number. A reason is given unless it was an expectation that a response did not meet.
    Failed(u32, Option<String>),
}

/// What a user does after it has taken events of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterEvents {
    /// It waits for more.
    Await,
    /// It has left the stream.
    Leave,
    /// It takes its next step, and the stream goes on.
    Step,
}

/// A message that a user sends on a WebSocket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The kind.
    pub kind: Kind,
    /// The payload.
    pub payload: Bytes,
}

/// A change of a parked user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// The user takes its next step.
    Next(usize),
    /// The user's requests in flight are given up, and their connections closed.
    Abandon(usize),
    /// The user's connections are closed, as far as they carry no request.
    Disconnect(usize),
}

/// The times of a request and of the connection that carries it, in nanoseconds of the run's clock; 0 where they are not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Phases {
    /// When connecting began.
    pub opened: Nanos,
    /// When the connection was established.
    pub established: Nanos,
    /// When the connection was ready for requests, after the handshake of TLS.
    pub ready: Nanos,
    /// When the request was sent, or began to wait for a connection that had been lost.
    pub sent: Nanos,
    /// When the first byte of the response arrived.
    pub first_byte: Nanos,
    /// When the last byte of the response arrived, or the request failed.
    pub end: Nanos,
}

/// The bytes that went over the socket of a connection, those of TLS among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Transferred {
    /// The number of bytes sent.
    pub sent: u64,
    /// The number of bytes received.
    pub received: u64,
}

/// A response with its circumstances.
#[derive(Debug)]
pub struct ReceivedBy<'r> {
    /// Status code, field lines and content, as far as the request needs them.
    pub response: &'r KeptResponse,
    /// The response time.
    pub took: Nanos,
    /// The address of the server or proxy; `None` over a Unix socket.
    pub address: Option<IpAddr>,
    /// The server's certificate in DER; `None` without TLS.
    pub certificate: Option<&'r [u8]>,
    /// The port of the server or proxy; 0 over a Unix socket.
    pub port: u16,
    /// The parameters of TLS; `None` without TLS, or where users cannot park.
    pub tls: Option<&'r NegotiatedTls>,
    /// The times of the request.
    pub phases: Phases,
    /// The bytes on the connection since the request before; 0 where users cannot park.
    pub transferred: Transferred,
}

/// The judgement of a response by the user that requested it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judged {
    /// Whether the response was as the entry expects; without an expected status, a status of 400 or more is not.
    pub passed: bool,
    /// The expectations that the response did not meet.
    pub unmet: Vec<Unmet>,
    /// Whether the user sends the request again because of the unmet expectations.
    pub retries: bool,
}

/// An expectation that a response did not meet. The texts are fit to be shown: no secret is in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmet {
    /// The number of the expectation among those of its entry, from 0.
    pub assert: usize,
    /// The demanded value or property, as text.
    pub expected: String,
    /// The value or property that the response had, as text.
    pub actual: String,
}
