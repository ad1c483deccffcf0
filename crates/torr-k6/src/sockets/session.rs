//! One WebSocket: its handshake, and its frames in both directions.

use super::handle::{Command, Counts};
use super::mail::{Close, SocketEvent};
use super::opening::Opening;
use super::outlet::Outlet;
use super::reach::{reach, read_head};
use super::response::Response;
use super::wire::Wire;
use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use torr_press::{Destination, MessageCodecs, MessageCompression};
use torr_wire::websocket::{self, FrameError, FrameEvent, FrameReader, Handshake, Kind, LEAST_ROOM, code};

/// The largest message in bytes.
const LARGEST_MESSAGE: u64 = 64 << 20;
/// The largest content of a response to a handshake that is kept, in bytes.
const LARGEST_BODY: usize = 64 * 1024;
/// The number of bytes on their way to the socket beyond which no message is added to them.
const MOST_OUT: usize = 256 * 1024;
/// The length of the longest header of a frame, in bytes.
const LARGEST_HEADER: usize = 14;
/// The time in which a socket that is left sends what it has to send.
pub(super) const LEAVING: Duration = Duration::from_secs(1);

/// The end of a handshake.
pub(super) enum Opened {
    /// The socket is open.
    Open(Box<Session>, Response),
    /// The server's response does not complete the handshake, for the reason in the text; none where its status is the reason.
    Refused(Response, String),
}

/// An open socket.
pub(super) struct Session {
    wire: Wire,
    reader: FrameReader,
    /// The payload of the message that is arriving.
    message: Vec<u8>,
    /// The compression of messages, where the handshake has agreed on it.
    compression: Option<MessageCompression>,
    /// What all sockets share for compression.
    codecs: Rc<RefCell<MessageCodecs>>,
    /// The latest ping: the bytes that its pong has, and when it was sent.
    pinged: Option<([u8; 8], Instant)>,
    pings: u64,
    has_closed: bool,
    counts: Arc<Counts>,
}

/// Connects, and completes the handshake of HTTP.
///
/// # Errors
/// Why there is no response, in one line.
pub(super) async fn open(
    opening: &Opening,
    destination: &Destination,
    source: Option<IpAddr>,
    counts: Arc<Counts>,
    codecs: Rc<RefCell<MessageCodecs>>,
    began: Instant,
) -> Result<Opened, String> {
    let mut wire = reach(destination, source, counts.clone(), began).await?;
    wire.send(&opening.request)?;
    let mut response = read_head(&mut wire, began).await?;
    let fields: Vec<_> = response.fields.iter().map(|(name, value)| field(name, value)).collect();
    let handshake = Handshake { key: opening.key, subprotocols: &opening.subprotocols, deflate: opening.deflate };
    match handshake.check(response.status, &fields) {
        Ok(agreement) => {
            let mut reader = FrameReader::default();
            if agreement.is_some() {
                reader.take_compressed();
            }
            let session = Session {
                wire,
                reader,
                message: Vec::new(),
                compression: agreement.map(MessageCompression::new),
                codecs,
                pinged: None,
                pings: 0,
                has_closed: false,
                counts,
            };
            Ok(Opened::Open(Box::new(session), response))
        }
        Err(_) if response.status != 101 => {
            response.body = body(&mut wire, &response).await;
            // It concerns this connection only, whose script sees no more of it.
            response.fields.retain(|(name, _)| !name.eq_ignore_ascii_case("connection"));
            Ok(Opened::Refused(response, String::new()))
        }
        Err(error) => Ok(Opened::Refused(response, error.to_string())),
    }
}

fn field<'f>(name: &'f str, value: &'f str) -> torr_wire::Header<'f> {
    torr_wire::Header { name, value: value.as_bytes() }
}

/// Reads what is kept of a response's content: up to its length, or what has arrived when the connection ends or has nothing for a while.
async fn body(wire: &mut Wire, response: &Response) -> Vec<u8> {
    let length = response.field("content-length").and_then(|length| length.trim().parse::<usize>().ok());
    let wanted = length.unwrap_or(LARGEST_BODY).min(LARGEST_BODY);
    while wire.plain.len() < wanted && !wire.has_ended {
        match tokio::time::timeout(LEAVING, wire.turn(true)).await {
            Ok(Ok(())) => {}
            _ => break,
        }
    }
    let mut body = std::mem::take(&mut wire.plain);
    body.truncate(wanted);
    body
}

impl Session {
    /// Carries frames until the connection has ended. `None` if the events are not taken any more.
    pub async fn run(
        &mut self,
        id: u64,
        commands: &mut mpsc::UnboundedReceiver<Command>,
        outlet: &Outlet,
    ) -> Option<Close> {
        loop {
            loop {
                match self.next_event() {
                    Ok(None) => break,
                    Ok(Some(SocketEvent::Closed(close))) => {
                        self.flush().await;
                        return Some(close);
                    }
                    Ok(Some(event)) => {
                        if !outlet.hand_over(id, event).await {
                            return None;
                        }
                    }
                    Err((code, why)) => {
                        self.close(code, "");
                        self.flush().await;
                        return Some(Close::violated(&why));
                    }
                }
            }
            if self.wire.has_ended {
                return Some(Close::lost("unexpected EOF"));
            }
            tokio::select! {
                turned = self.wire.turn(true) => {
                    if let Err(why) = turned {
                        return Some(Close::lost(&why));
                    }
                }
                command = commands.recv(), if self.wire.unsent() < MOST_OUT => self.obey(command?),
            }
        }
    }

    /// Sends what is left, a close frame among it, to a server that has no listener any more.
    pub async fn leave(&mut self, commands: &mut mpsc::UnboundedReceiver<Command>) {
        while let Ok(command) = commands.try_recv() {
            self.obey(command);
        }
        self.close(code::GOING_AWAY, "");
        self.flush().await;
    }

    async fn flush(&mut self) {
        self.wire.end();
        let deadline = tokio::time::Instant::now() + LEAVING;
        while self.wire.unsent() > 0 {
            match tokio::time::timeout_at(deadline, self.wire.turn(false)).await {
                Ok(Ok(())) => {}
                _ => return,
            }
        }
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Send { is_text, payload } => {
                let kind = if is_text { Kind::Text } else { Kind::Binary };
                let mut frame = Vec::with_capacity(LARGEST_HEADER + payload.len());
                frame.resize(LEAST_ROOM, 0);
                frame.extend_from_slice(&payload);
                match &mut self.compression {
                    None => websocket::finish_message(kind, mask_key(), 0, LEAST_ROOM, &mut frame),
                    Some(compression) => {
                        compression.encode(&mut self.codecs.borrow_mut(), LEAST_ROOM, &mut frame);
                        websocket::finish_compressed_message(kind, mask_key(), 0, LEAST_ROOM, &mut frame)
                    }
                };
                self.send(&frame);
                self.counts.unsent.fetch_sub(payload.len(), Ordering::AcqRel);
            }
            Command::Ping => {
                self.pings += 1;
                let payload = self.pings.to_be_bytes();
                self.pinged = Some((payload, Instant::now()));
                let mut frame = Vec::new();
                websocket::ping(&payload, mask_key(), &mut frame);
                self.send(&frame);
            }
            Command::Close(code, reason) => self.close(code, &reason),
        }
    }

    fn send(&mut self, frame: &[u8]) {
        if !self.has_closed {
            // An error of TLS ends the connection, which the next turn sees.
            let _ = self.wire.send(frame);
        }
    }

    fn close(&mut self, code: u16, reason: &str) {
        let mut frame = Vec::new();
        websocket::close(Some(code), reason, mask_key(), &mut frame);
        self.send(&frame);
        self.has_closed = true;
    }

    /// Takes the payload of the message that has arrived, decoded.
    fn payload(&mut self) -> Result<Vec<u8>, FrameError> {
        let payload = std::mem::take(&mut self.message);
        let Some(compression) = self.compression.as_mut().filter(|_| self.reader.was_compressed()) else {
            return Ok(payload);
        };
        compression.hold(&payload);
        let mut decoded = Vec::new();
        let piece = |piece: &[u8]| decoded.extend_from_slice(piece);
        compression.decode(&mut self.codecs.borrow_mut(), LARGEST_MESSAGE, piece)?;
        Ok(decoded)
    }

    /// Reads the next event from the bytes that have arrived.
    fn next_event(&mut self) -> Result<Option<SocketEvent>, (u16, String)> {
        let message = &mut self.message;
        let read = self.reader.read(&self.wire.plain, LARGEST_MESSAGE, |piece| message.extend_from_slice(piece));
        let (used, event) = read.map_err(|error| (error.code(), error.to_string()))?;
        self.wire.plain.drain(..used);
        Ok(match event {
            None => None,
            Some(FrameEvent::Message(kind, _)) => {
                let payload = self.payload().map_err(|error| (error.code(), error.to_string()))?;
                if kind == Kind::Text && std::str::from_utf8(&payload).is_err() {
                    return Err((code::INVALID_PAYLOAD, "the server sent a text that is not UTF-8".to_owned()));
                }
                Some(SocketEvent::Message(kind, payload))
            }
            Some(FrameEvent::Ping) => {
                let mut frame = Vec::new();
                websocket::pong(self.reader.control(), mask_key(), &mut frame);
                self.send(&frame);
                Some(SocketEvent::Ping)
            }
            Some(FrameEvent::Pong) => {
                let answered = self.pinged.take_if(|(payload, _)| *payload == *self.reader.control());
                Some(SocketEvent::Pong(answered.map(|(_, at)| at.elapsed())))
            }
            Some(FrameEvent::Close(code)) => {
                let reason = self.reader.control().get(2..).unwrap_or_default();
                let reason = String::from_utf8_lossy(reason).into_owned();
                self.close(code.unwrap_or(code::NORMAL), "");
                Some(SocketEvent::Closed(Close::by_frame(code, reason)))
            }
        })
    }
}

fn mask_key() -> [u8; 4] {
    fastrand::u32(..).to_ne_bytes()
}
