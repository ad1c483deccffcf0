//! The WebSocket of a session: what its code calls, and the messages that it has not read.

use crate::state::step_mark;
use bytes::Bytes;
use mlua::{MultiValue, Value};
use std::collections::VecDeque;
use torr_press::StreamEvent;
use torr_press::users::{Message, Step};
use torr_wire::websocket::Kind;

/// What a session has of its latest WebSocket.
#[derive(Debug, Default)]
pub struct Socket {
    /// Its number among the streams of the session.
    pub number: u64,
    /// The messages that the session has not read.
    pub mail: VecDeque<StreamEvent>,
    /// Whether the session waits for the next message.
    pub is_awaiting: bool,
    /// The message that the session sends next.
    pub outgoing: Option<Message>,
}

/// What the code of a session does with the WebSocket of a number.
#[derive(Debug)]
pub enum SocketCall {
    /// Waits for the next message.
    Receive(u64),
    /// Sends a message.
    Send(u64, Message),
    /// Closes it.
    Close(u64),
}

impl SocketCall {
    /// Returns the call that yielded values stand for; `None` if they are another step.
    pub fn of(yielded: &MultiValue) -> Option<Self> {
        // A script that yields by itself does not have the mark.
        if yielded.front() != Some(&step_mark()) {
            return None;
        }
        let what = yielded.get(1).and_then(Value::as_string)?;
        // Whole numbers are integers to mlua.
        let number = || yielded.get(2).and_then(|number| number.as_u64().or_else(|| Some(number.as_f64()? as u64)));
        match &*what.as_bytes() {
            b"message" => Some(Self::Receive(number()?)),
            b"say" => {
                let payload = yielded.get(3).and_then(Value::as_string)?;
                let is_binary = yielded.get(4).and_then(Value::as_boolean).unwrap_or(false);
                let kind = if is_binary { Kind::Binary } else { Kind::Text };
                Some(Self::Send(number()?, Message { kind, payload: Bytes::copy_from_slice(&payload.as_bytes()) }))
            }
            b"close" => Some(Self::Close(number()?)),
            _ => None,
        }
    }
}

/// What a call leads to.
#[derive(Debug)]
pub enum Called {
    /// The engine takes a step.
    Step(Step),
    /// The call returns a message.
    Message(StreamEvent),
    /// The call returns that the WebSocket is closed.
    Closed,
}
