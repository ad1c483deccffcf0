//! The server of these tests, and requests and responses as bytes.

use super::quic::{Client, Received};
use crate::http2::scene::app;
use crate::support::Running;
use std::path::PathBuf;
use tempfile::TempDir;
use torr_net::quic::ReadEnd;
use torr_serve::{App, Settings, TlsSettings};
use torr_test_support::certificates::self_signed;
use torr_wire::http3::{MessagePiece, MessageStream, kind, qpack, write_header};
use torr_wire::packed::write_string;

/// A server of HTTP/3 with one worker, or more.
pub struct Scene {
    pub server: Running,
    pub certificate: PathBuf,
    folder: TempDir,
}

impl Scene {
    pub fn start() -> Self {
        Self::set(|_| {})
    }

    pub fn set(set: impl FnOnce(&mut Settings)) -> Self {
        Self::with(app(), set)
    }

    pub fn with(app: App, set: impl FnOnce(&mut Settings)) -> Self {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let (certificate, key) = self_signed(folder.path());
        let server = Running::start_with(app, |settings| {
            settings.tls = Some(TlsSettings::new(&certificate, key));
            settings.http3 = true;
            set(settings);
        });
        Self { server, certificate, folder }
    }

    pub fn client(&self) -> Client {
        Client::connect(self.server.address, &self.certificate)
    }

    /// Replaces the certificate's file. Returns the path of a copy of the former certificate.
    pub fn replace_certificate(&self) -> PathBuf {
        let former = self.folder.path().join("former.pem");
        std::fs::copy(&self.certificate, &former).expect("a file can be copied");
        self_signed(self.folder.path());
        former
    }

    /// A GET on a connection of its own.
    pub fn get(&self, path: &str) -> Response {
        let mut client = self.client();
        let stream = client.request(&get(path));
        Response::of(&client.response(stream))
    }
}

/// A field section of these fields, in literals.
pub fn section(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut section = vec![0, 0];
    for (name, value) in fields {
        write_string(name.as_bytes(), 3, 0x20, &mut section);
        write_string(value.as_bytes(), 7, 0, &mut section);
    }
    frame(kind::HEADERS, &section)
}

/// A frame.
pub fn frame(kind: u64, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    write_header(kind, payload.len() as u64, &mut frame);
    frame.extend_from_slice(payload);
    frame
}

/// The header section of a request, with further fields.
pub fn head(method: &str, path: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let pseudo = [(":method", method), (":scheme", "https"), (":authority", "localhost"), (":path", path)];
    section(&[&pseudo[..], more].concat())
}

pub fn get(path: &str) -> Vec<u8> {
    head("GET", path, &[])
}

pub fn post(path: &str, content: &[u8]) -> Vec<u8> {
    [head("POST", path, &[]), frame(kind::DATA, content)].concat()
}

/// A response.
#[derive(Debug, Clone, Default)]
pub struct Response {
    pub status: u16,
    pub fields: Vec<(String, String)>,
    pub content: Vec<u8>,
    pub trailers: Vec<(String, String)>,
}

impl Response {
    /// A complete response.
    pub fn of(received: &Received) -> Self {
        assert_eq!(received.end, Some(ReadEnd::Finished), "{}", received.bytes.len());
        Self::so_far(&received.bytes)
    }

    /// What has arrived of one.
    pub fn so_far(mut bytes: &[u8]) -> Self {
        let (mut reader, mut response) = (MessageStream::default(), Self::default());
        while let Some(piece) = reader.next(&mut bytes).expect("the server keeps to the protocol") {
            match piece {
                MessagePiece::Content(content) => response.content.extend_from_slice(content),
                MessagePiece::TooLarge => panic!("a section above the limit"),
                MessagePiece::Section(section) => {
                    let mut fields = Vec::new();
                    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("it is text");
                    qpack::decode(section.as_ref(), &mut Vec::new(), |name, value| {
                        fields.push((text(name), text(value)));
                    })
                    .expect("the server keeps to the protocol");
                    match response.status {
                        0 => {
                            assert_eq!(fields[0].0, ":status");
                            response.status = fields.remove(0).1.parse().expect("it is a number");
                            response.fields = fields;
                        }
                        _ => response.trailers = fields,
                    }
                }
            }
        }
        response
    }

    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.content).expect("it is text")
    }
}
