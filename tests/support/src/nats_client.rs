//! A client of NATS' text protocol, for messages that no agent and no coordinator would send.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// A connection to a server of NATS without authorization.
pub struct NatsClient {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
    subscriptions: usize,
}

/// A message of a fleet.
pub struct NatsMessage {
    pub subject: String,
    pub reply: Option<String>,
    /// The message without its version.
    pub message: Value,
}

impl NatsClient {
    pub fn connect(address: &str) -> Self {
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_read_timeout(Some(crate::PATIENCE)).expect("a socket takes options");
        let reader = BufReader::new(stream.try_clone().expect("a socket can be cloned"));
        let mut client = Self { stream, reader, subscriptions: 0 };
        client.send("CONNECT {\"verbose\":false}\r\n");
        client
    }

    /// Subscribes, and returns once the server knows of it.
    pub fn subscribe(&mut self, subject: &str) {
        self.subscriptions += 1;
        let number = self.subscriptions;
        self.send(&format!("SUB {subject} {number}\r\nPING\r\n"));
        let mut line = String::new();
        while line.trim() != "PONG" {
            line.clear();
            assert!(self.reader.read_line(&mut line).is_ok_and(|read| read > 0), "the server responds to a ping");
        }
    }

    /// Publishes a message in this protocol's version.
    pub fn publish(&mut self, subject: &str, message: &Value) {
        self.publish_text(subject, &json!({"version": 1, "message": message}).to_string());
    }

    pub fn publish_text(&mut self, subject: &str, text: &str) {
        self.send(&format!("PUB {subject} {}\r\n{text}\r\n", text.len()));
    }

    /// Sends a request, and returns the response; `None` if there is none in time.
    pub fn request(&mut self, subject: &str, message: &Value) -> Option<Value> {
        let inbox = format!("_INBOX.test.{}", self.subscriptions);
        self.subscribe(&inbox);
        let text = json!({"version": 1, "message": message}).to_string();
        self.send(&format!("PUB {subject} {inbox} {}\r\n{text}\r\n", text.len()));
        loop {
            let message = self.receive()?;
            if message.subject == inbox {
                return Some(message.message);
            }
        }
    }

    /// Returns the next message; `None` at the end of the connection, or without one in time.
    pub fn receive(&mut self) -> Option<NatsMessage> {
        loop {
            let mut line = String::new();
            self.reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
            let words: Vec<_> = line.split_whitespace().collect();
            let (subject, reply, length) = match words[..] {
                ["PING"] => {
                    self.stream.write_all(b"PONG\r\n").ok()?;
                    continue;
                }
                ["MSG", subject, _, length] => (subject, None, length),
                ["MSG", subject, _, reply, length] => (subject, Some(reply.to_owned()), length),
                _ => continue,
            };
            let mut content = vec![0; length.parse::<usize>().expect("it is a number") + 2];
            self.reader.read_exact(&mut content).ok()?;
            let mut envelope: Value = serde_json::from_slice(&content).ok()?;
            let message = envelope["message"].take();
            return Some(NatsMessage { subject: subject.to_owned(), reply, message });
        }
    }

    fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).expect("the server reads");
    }
}
