//! The bytes of a connection of HTTP/2 between the socket and hyper: an end for clients that send frames without content and
//! without end, and for those that go on with requests after the connection's end was announced.

use super::frame_scanner::{Frame, FrameScanner, HEADER, PING, kind};
use std::cell::Cell;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use torr_wire::request::HTTP2_PREFACE;

/// The number of streams of one connection at a time, the least that RFC 9113 recommends (section 5.1.2) and a little more. It
/// bounds handlers of the `App` that work for a connection, too, whether their streams are open or reset.
pub(in crate::conn) const STREAMS: u32 = 128;
/// The most time that a connection without requests has for a graceful end, and that a client has to read of the end before its
/// further requests are refused.
pub(in crate::conn) const GRACE: Duration = Duration::from_secs(1);
/// The cost that frames without content may have at a time, and the part of it that is regained each second. A frame costs about a
/// microsecond, so that a client that sends nothing else takes 0.2% of a CPU.
const BURST: u32 = 10_000;
const REGAINED: u32 = 2_000;
/// The cost of frames that the server has to reply to.
const COST_OF_SETTINGS: u32 = 10;
const COST_OF_PING: u32 = 2;
/// The part of the cost that is regained with a request, which comes with frames for its windows and its priority.
const BY_REQUEST: u32 = 8;
/// The bytes of a DATA frame that the server sends for which a frame of the client is free, and the most such frames: some clients
/// open both windows with each frame that they receive.
const BY_DATA: usize = 64;
const BY_DATA_AT_MOST: usize = 4;
/// The number of acknowledgements of pings that were never sent after which the connection ends. `h2` warns of each.
const UNASKED: u32 = 4;
/// The error code ENHANCE_YOUR_CALM (RFC 9113, section 7).
const ENHANCE_YOUR_CALM: u8 = 0xb;

/// What the guard of a connection and the task that drives the connection tell each other.
#[derive(Debug)]
pub(super) struct Flow {
    /// The time at which bytes of a response were last sent.
    moved: Cell<Instant>,
    /// The socket takes no more, so that the time-out of writes runs.
    is_jammed: Cell<bool>,
    /// The client has had the time to read that the connection ends: no further request is taken.
    is_final: Cell<bool>,
}

impl Flow {
    pub fn new() -> Rc<Self> {
        let [is_jammed, is_final] = [false; 2].map(Cell::new);
        Rc::new(Self { moved: Cell::new(Instant::now()), is_jammed, is_final })
    }

    /// Returns how long no byte of a response was sent. Zero while the socket takes no more.
    pub fn still_for(&self) -> Duration {
        if self.is_jammed.get() { Duration::ZERO } else { self.moved.get().elapsed() }
    }

    /// Takes no further request on a connection whose end was announced.
    pub fn finish(&self) {
        self.is_final.set(true);
    }

    pub fn is_final(&self) -> bool {
        self.is_final.get()
    }
}

/// The guard of a connection.
pub(super) struct FrameGuard<T> {
    inner: T,
    flow: Rc<Flow>,
    incoming: FrameScanner,
    outgoing: FrameScanner,
    limits: Limits,
    /// The number of bytes of a made-up acknowledgement that hyper has read.
    made_up: usize,
}

/// What is known of a connection's frames.
struct Limits {
    /// The cost that is left, and the time at which some of it was last regained.
    left: u32,
    regained: Instant,
    /// The numbers of pings that were sent, and of their acknowledgements.
    pings: u32,
    acknowledged: u32,
    /// The number of GOAWAY frames that were sent. The first one announces the end, and the second one is final.
    goaways: u32,
    /// The payload of the ping behind the first GOAWAY, by whose acknowledgement the second is sent.
    last_ping: Option<[u8; PING]>,
    /// The greatest number of a stream that the client has begun.
    latest: u32,
    /// That number and the time when the final GOAWAY was sent.
    ended: Option<(u32, Instant)>,
    /// The number of streams that the client has begun after it.
    late: u32,
    has_flooded: bool,
}

impl Limits {
    fn new() -> Self {
        Self {
            left: BURST,
            regained: Instant::now(),
            pings: 0,
            acknowledged: 0,
            goaways: 0,
            last_ping: None,
            latest: 0,
            ended: None,
            late: 0,
            has_flooded: false,
        }
    }

    fn regain(&mut self, cost: u32) {
        self.left = (self.left + cost).min(BURST);
    }

    fn spend(&mut self, cost: u32) {
        if self.left < cost {
            let now = Instant::now();
            let gained = u128::from(REGAINED) * now.duration_since(self.regained).as_micros() / 1_000_000;
            if gained > 0 {
                self.regain(gained.min(u128::from(BURST)) as u32);
                self.regained = now;
            }
        }
        self.has_flooded |= self.left < cost;
        self.left = self.left.saturating_sub(cost);
    }

    /// Judges a frame of the client.
    fn received(&mut self, frame: Frame) {
        match frame.kind {
            kind::HEADERS => {
                self.regain(BY_REQUEST);
                self.latest = self.latest.max(frame.stream);
                if let Some((last, since)) = self.ended
                    && frame.stream > last
                {
                    self.late += 1;
                    self.has_flooded |= self.late > STREAMS || since.elapsed() > GRACE;
                }
            }
            kind::DATA if frame.content > 0 => {}
            kind::SETTINGS if !frame.is_ack => self.spend(COST_OF_SETTINGS),
            kind::PING if frame.is_ack => {
                self.acknowledged += 1;
                self.has_flooded |= self.acknowledged > self.pings + UNASKED;
                if self.last_ping == Some(frame.ping) {
                    self.last_ping = None;
                }
            }
            kind::PING => self.spend(COST_OF_PING),
            _ => self.spend(1),
        }
    }

    /// Notes a frame of the server.
    fn sent(&mut self, frame: Frame) {
        match frame.kind {
            kind::DATA => self.regain((frame.content / BY_DATA).min(BY_DATA_AT_MOST) as u32),
            kind::PING if !frame.is_ack => {
                self.pings += 1;
                if self.goaways == 1 {
                    self.last_ping.get_or_insert(frame.ping);
                }
            }
            kind::GOAWAY => {
                self.goaways += 1;
                if self.goaways == 2 {
                    self.ended = Some((self.latest, Instant::now()));
                }
            }
            _ => {}
        }
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> FrameGuard<T> {
    /// Returns the guard of a connection that begins with `inner`.
    pub fn new(inner: T, flow: Rc<Flow>) -> Self {
        let (incoming, outgoing) = (FrameScanner::new(HTTP2_PREFACE.len()), FrameScanner::default());
        Self { inner, flow, incoming, outgoing, limits: Limits::new(), made_up: 0 }
    }

    /// Makes up the client's acknowledgement of the last ping, for a client that sends none: `h2` sends its final GOAWAY by that
    /// alone, and takes requests until then. Returns whether something was put into `buffer`.
    fn acknowledge(&mut self, buffer: &mut ReadBuf<'_>) -> bool {
        let Some(ping) = self.limits.last_ping.filter(|_| self.flow.is_final()) else { return false };
        if self.made_up == 0 && !self.incoming.is_between_frames() {
            return false;
        }
        let mut frame = [0, 0, PING as u8, kind::PING, 1, 0, 0, 0, 0].to_vec();
        frame.extend_from_slice(&ping);
        let rest = &frame[self.made_up..];
        let fits = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..fits]);
        self.made_up += fits;
        if self.made_up == HEADER + PING {
            (self.limits.last_ping, self.made_up) = (None, 0);
        }
        fits > 0
    }

    /// Tells the client why its connection ends, if nothing else is being sent.
    fn refuse(&mut self, cx: &mut Context<'_>) -> io::Error {
        if self.outgoing.is_between_frames() {
            let latest = self.limits.latest.to_be_bytes();
            let goaway = [&[0, 0, 8, kind::GOAWAY, 0, 0, 0, 0, 0], &latest[..], &[0, 0, 0, ENHANCE_YOUR_CALM]].concat();
            // A client that does not take it does without.
            let _ = Pin::new(&mut self.inner).poll_write(cx, &goaway);
        }
        io::Error::new(
            ErrorKind::ConnectionAborted,
            "the client floods the connection with empty frames, or sends requests after GOAWAY",
        )
    }

    /// Notes bytes of which the socket has taken `sent`, or none.
    fn note_sent<'b>(&mut self, sent: &Poll<io::Result<usize>>, pieces: impl Iterator<Item = &'b [u8]>) {
        self.flow.is_jammed.set(sent.is_pending());
        let Poll::Ready(Ok(sent)) = sent else { return };
        let (mut left, mut data, limits) = (*sent, 0, &mut self.limits);
        for piece in pieces {
            let taken = left.min(piece.len());
            left -= taken;
            data += self.outgoing.pass(&piece[..taken], |frame| limits.sent(frame));
        }
        if data > 0 {
            self.flow.moved.set(Instant::now());
        }
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> AsyncRead for FrameGuard<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let guard = &mut *self;
        if guard.acknowledge(buffer) {
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut guard.inner).poll_read(cx, buffer))?;
        let limits = &mut guard.limits;
        guard.incoming.pass(&buffer.filled()[before..], |frame| limits.received(frame));
        if guard.limits.has_flooded {
            buffer.set_filled(before);
            return Poll::Ready(Err(guard.refuse(cx)));
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> AsyncWrite for FrameGuard<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.note_sent(&sent, [bytes].into_iter());
        sent
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.inner).poll_write_vectored(cx, bytes);
        self.note_sent(&sent, bytes.iter().map(|piece| &**piece));
        sent
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(cx);
        self.flow.is_jammed.set(flushed.is_pending());
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
