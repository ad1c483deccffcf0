//! A method, and the content of its requests and responses.

use crate::error::GrpcError;
use crate::framing::{self, Coding};
use crate::shown::Shown;
use prost::Message;
use prost_reflect::{DynamicMessage, MessageDescriptor, MethodDescriptor, SerializeOptions};
use serde::Deserializer as _;
use serde::de::{SeqAccess, Visitor};
use serde_json::{Deserializer, Serializer};
use std::fmt;

/// The largest size of a decompressed message that is shown, in bytes.
const MOST_SHOWN: usize = 16 * 1024 * 1024;
/// The types of protobuf that may be arrays in JSON.
const ARRAYS: [&str; 2] = ["google.protobuf.ListValue", "google.protobuf.Value"];

/// A method of a service.
#[derive(Debug, Clone)]
pub struct Method {
    descriptor: MethodDescriptor,
    input: MessageDescriptor,
    output: MessageDescriptor,
}

impl Method {
    pub(crate) fn new(descriptor: MethodDescriptor) -> Self {
        Self { input: descriptor.input(), output: descriptor.output(), descriptor }
    }

    /// Whether a request is a stream of messages.
    pub fn takes_stream(&self) -> bool {
        self.descriptor.is_client_streaming()
    }

    /// Whether a response is a stream of messages.
    pub fn returns_stream(&self) -> bool {
        self.descriptor.is_server_streaming()
    }

    /// Returns the content of a request whose messages are JSON: one value after another, or arrays of them. Without any, a request of
    /// one message has an empty one.
    ///
    /// # Errors
    /// [`GrpcError::Json`] and [`GrpcError::Count`].
    pub fn encode(&self, json: &[u8], coding: Coding) -> Result<Vec<u8>, GrpcError> {
        let mut written = Written { input: &self.input, coding, content: Vec::new(), count: 0 };
        let are_arrays = json.trim_ascii_start().starts_with(b"[") && !ARRAYS.contains(&self.input.full_name());
        let mut values = Deserializer::from_slice(json);
        while values.end().is_err() {
            let read = match are_arrays {
                true => values.deserialize_seq(&mut written),
                false => {
                    DynamicMessage::deserialize(self.input.clone(), &mut values).map(|message| written.add(&message))
                }
            };
            read.map_err(|error| GrpcError::Json {
                number: written.count + 1,
                name: self.input.full_name().to_owned(),
                why: error.to_string(),
            })?;
        }
        match written.count {
            0 if !self.takes_stream() => written.add(&DynamicMessage::new(self.input.clone())),
            found if found > 1 && !self.takes_stream() => {
                return Err(GrpcError::Count { method: self.descriptor.full_name().to_owned(), found });
            }
            _ => {}
        }
        Ok(written.content)
    }

    /// Returns one message of a request, from its JSON, without a prefix.
    ///
    /// # Errors
    /// Why the text is no such message, in one line.
    pub fn message(&self, json: &str) -> Result<Vec<u8>, String> {
        let mut values = Deserializer::from_str(json);
        let message = DynamicMessage::deserialize(self.input.clone(), &mut values);
        let message = message.and_then(|message| values.end().map(|()| message)).map_err(|error| error.to_string())?;
        Ok(message.encode_to_vec())
    }

    /// Returns one message of a response as JSON on one line, in which fields that are not set have their defaults. 64-bit integers are
    /// strings, and messages that are not set are `null`.
    ///
    /// # Errors
    /// Why the bytes are no such message, in one line.
    pub fn json(&self, message: &[u8]) -> Result<String, String> {
        let message = DynamicMessage::decode(self.output.clone(), message).map_err(|error| error.to_string())?;
        serde_json::to_string(&Shown(&message)).map_err(|error| error.to_string())
    }

    /// Returns the one message of a response as [`Self::json`] does. `coding` is that of its `grpc-encoding`, `None` if it is unknown.
    ///
    /// # Errors
    /// Why the content is no such message, in one line.
    pub fn response_json(&self, content: &[u8], coding: Option<Coding>) -> Result<String, String> {
        let messages = framing::split(content, coding, MOST_SHOWN).map_err(|error| error.to_string())?;
        let [message] = &messages[..] else { return Err(format!("expected one message, found {}", messages.len())) };
        self.json(message).map_err(|error| format!("it is no {}: {error}", self.output.full_name()))
    }

    /// Returns a message within a `google.protobuf.Any` as JSON, if its type is known beside the method.
    #[must_use]
    pub fn json_of_any(&self, name: &str, message: &[u8]) -> Option<String> {
        let descriptor = self.input.parent_pool().get_message_by_name(name)?;
        let message = DynamicMessage::decode(descriptor, message).ok()?;
        serde_json::to_string(&Shown(&message)).ok()
    }

    /// Returns the messages of a request as JSON, one after another.
    ///
    /// # Errors
    /// [`GrpcError::Framing`] and [`GrpcError::Message`].
    pub fn show_request(&self, content: &[u8], coding: Option<Coding>) -> Result<String, GrpcError> {
        show(&self.input, content, coding)
    }

    /// Returns the messages of a response as JSON, one after another. `coding` is that of its `grpc-encoding`, `None` if it is unknown.
    ///
    /// # Errors
    /// [`GrpcError::Framing`] and [`GrpcError::Message`].
    pub fn show_response(&self, content: &[u8], coding: Option<Coding>) -> Result<String, GrpcError> {
        show(&self.output, content, coding)
    }
}

/// The messages of a request that have been written.
struct Written<'m> {
    input: &'m MessageDescriptor,
    coding: Coding,
    content: Vec<u8>,
    count: usize,
}

impl Written<'_> {
    fn add(&mut self, message: &DynamicMessage) {
        self.count += 1;
        framing::write(&message.encode_to_vec(), self.coding, &mut self.content);
    }
}

impl<'de> Visitor<'de> for &mut Written<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut messages: A) -> Result<(), A::Error> {
        while let Some(message) = messages.next_element_seed(self.input.clone())? {
            self.add(&message);
        }
        Ok(())
    }
}

fn show(descriptor: &MessageDescriptor, content: &[u8], coding: Option<Coding>) -> Result<String, GrpcError> {
    let mut text = Vec::new();
    for (number, message) in (1..).zip(framing::split(content, coding, MOST_SHOWN)?) {
        let wrong = |why: String| GrpcError::Message { number, name: descriptor.full_name().to_owned(), why };
        let message =
            DynamicMessage::decode(descriptor.clone(), &*message).map_err(|error| wrong(error.to_string()))?;
        let options = SerializeOptions::new().skip_default_fields(false);
        message
            .serialize_with_options(&mut Serializer::pretty(&mut text), &options)
            .map_err(|error| wrong(error.to_string()))?;
        text.push(b'\n');
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{ProtoFiles, Schema};

    struct Shop;

    impl ProtoFiles for Shop {
        fn read(&self, name: &str) -> Result<Option<String>, String> {
            Ok((name == "shop.proto")
                .then_some(
                    "syntax = \"proto3\"; package shop; import \"google/protobuf/struct.proto\";\n\
                 message Item { int32 id = 1; string name = 2; repeated double prices = 3; }\n\
                 enum Kind { OLD = 0; NEW = 1; }\n\
                 message Whole { int32 id = 1; string name = 2; repeated double prices = 3; int64 total = 4; Kind kind = 5;\n\
                 Item inner = 6; map<string, int32> counts = 7; optional string noted = 8; oneof which { string one = 9;\n\
                 string two = 10; } bytes raw = 11; }\n\
                 service Shop { rpc Get(Item) returns (Item); rpc Put(stream Item) returns (Item); rpc Show(Whole) returns (Whole);\n\
                 rpc List(google.protobuf.ListValue) returns (Item); }",
                )
                .map(str::to_owned))
        }
    }

    fn method(name: &str) -> Method {
        let schema = Schema::compile(&["shop.proto".to_owned()], Shop).expect("the file is sound");
        schema.method(&format!("/shop.Shop/{name}")).expect("there is one")
    }

    #[test]
    fn all_fields_of_a_message_are_shown() {
        let show = method("Show");
        let message = show.message("{\"id\": 7, \"total\": \"-9007199254740993\", \"kind\": 1, \"noted\": \"\"}");
        let shown = show.json(&message.expect("it is an item")).expect("it was encoded");
        let expected = "{\"id\":7,\"name\":\"\",\"prices\":[],\"total\":\"-9007199254740993\",\"kind\":\"NEW\",\
            \"inner\":null,\"counts\":{},\"noted\":\"\",\"raw\":\"\"}";
        assert_eq!(shown, expected);
        let full = r#"{"prices":[1.5,"NaN"],"inner":{"id":1},"counts":{"a":2},"one":"x","raw":"AAE=","kind":9}"#;
        let shown = show.json(&show.message(full).expect("it is an item")).expect("it was encoded");
        for part in [
            r#""prices":[1.5,"NaN"]"#,
            r#""inner":{"id":1,"#,
            r#""counts":{"a":2}"#,
            r#""one":"x""#,
            "AAE=",
            r#""kind":9"#,
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        for wrong in ["", "[]", "{\"id\":\"x\"}", "{\"what\":1}", "{} {}"] {
            assert!(show.message(wrong).is_err(), "{wrong}");
        }
        assert!(show.json(b"\xff").is_err());
        assert_eq!(show.json_of_any("shop.None", b""), None);
    }

    #[test]
    fn a_response_has_one_message() {
        let get = method("Get");
        let json = |content: &[u8]| get.response_json(content, Some(Coding::Identity));
        let item = "{\"id\":7,\"name\":\"\",\"prices\":[]}".to_owned();
        assert_eq!(json(b"\0\0\0\0\x02\x08\x07"), Ok(item));
        assert_eq!(json(b""), Err("expected one message, found 0".to_owned()));
        assert!(json(b"\0\0\0\0\x02\x08\xff").is_err_and(|error| error.starts_with("it is no shop.Item: ")));
    }

    #[test]
    fn json_becomes_messages_and_messages_become_json() {
        let (get, put) = (method("Get"), method("Put"));
        let one = get.encode(br#"{"id": 7, "name": "a"}"#, Coding::Identity).expect("it is an item");
        assert_eq!(one, b"\0\0\0\0\x05\x08\x07\x12\x01a");
        assert_eq!(
            get.show_response(&one, Some(Coding::Identity)).expect("it was encoded"),
            "{\n  \"id\": 7,\n  \"name\": \"a\",\n  \"prices\": []\n}\n"
        );
        assert_eq!(get.encode(b" ", Coding::Identity).expect("an empty message"), b"\0\0\0\0\0");
        assert_eq!(put.encode(b"", Coding::Identity).expect("no message"), b"");
        for json in ["{\"id\":1}\n{\"id\":2}", "[{\"id\":1},{\"id\":2}]", "[{\"id\":1}] [{\"id\":2}]"] {
            let two = put.encode(json.as_bytes(), Coding::Identity).expect(json);
            assert_eq!(two, b"\0\0\0\0\x02\x08\x01\0\0\0\0\x02\x08\x02", "{json}");
        }
        let list = method("List").encode(b"[1]", Coding::Identity).expect("the message is an array");
        assert!(list.len() > 5);
    }

    #[test]
    fn what_is_no_message_has_one_line() {
        for (name, json, line) in [
            ("Get", "{\"id\": \"x\"}", "message 1 is no shop.Item: "),
            ("Get", "{\"no\": 1}", "message 1 is no shop.Item: unrecognized field name 'no'"),
            ("Get", "{", "message 1 is no shop.Item: EOF"),
            ("Get", "{} {}", "shop.Shop.Get takes one message, found 2"),
            ("Put", "[{}, 3]", "message 2 is no shop.Item: "),
            ("Put", "[{}", "message 2 is no shop.Item: EOF"),
        ] {
            let error = method(name).encode(json.as_bytes(), Coding::Identity).expect_err(json).to_string();
            assert!(error.starts_with(line) && !error.contains('\n'), "{json}: {error}");
        }
        let error = method("Get").show_response(b"\0\0\0\0\x02\x08\xff", Some(Coding::Identity)).expect_err("cut");
        assert!(error.to_string().starts_with("message 1 is no shop.Item: "), "{error}");
    }
}
