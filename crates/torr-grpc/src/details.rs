//! The details of a status: messages of any type beside its code and its text.

use prost::Message;

/// `google.rpc.Status`, as far as it is used.
#[derive(Clone, PartialEq, Message)]
struct RichStatus {
    #[prost(message, repeated, tag = "3")]
    details: Vec<AnyMessage>,
}

/// `google.protobuf.Any`.
#[derive(Clone, PartialEq, Message)]
struct AnyMessage {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    value: Vec<u8>,
}

/// Returns the details in the content of `grpc-status-details-bin`, each with the URL of its type; none for what is no status.
#[must_use]
pub fn status_details(content: &[u8]) -> Vec<(String, Vec<u8>)> {
    let status = RichStatus::decode(content).unwrap_or_default();
    status.details.into_iter().map(|any| (any.type_url, any.value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_have_types() {
        let any = AnyMessage { type_url: "type.googleapis.com/a.B".to_owned(), value: vec![8, 1] };
        let status = RichStatus { details: vec![any] }.encode_to_vec();
        assert_eq!(status_details(&status), [("type.googleapis.com/a.B".to_owned(), vec![8, 1])]);
        assert!(status_details(b"\xff").is_empty() && status_details(b"").is_empty());
    }
}
