//! The health service of the standard (`grpc.health.v1`): its messages.

use crate::error::GrpcError;
use prost::Message;

/// The path of its method `Check`.
pub const CHECK: &str = "/grpc.health.v1.Health/Check";

/// `grpc.health.v1.HealthCheckRequest`.
#[derive(Clone, PartialEq, Message)]
struct CheckRequest {
    #[prost(string, tag = "1")]
    service: String,
}

/// `grpc.health.v1.HealthCheckResponse`.
#[derive(Clone, PartialEq, Message)]
struct CheckResponse {
    #[prost(int32, tag = "1")]
    status: i32,
}

/// Returns the message that requests the health of a service; of the whole server, if the name is empty.
#[must_use]
pub fn request(service: &str) -> Vec<u8> {
    CheckRequest { service: service.to_owned() }.encode_to_vec()
}

/// Returns the health in the message of a response: 0 unknown, 1 serving, 2 not serving, 3 unknown service.
///
/// # Errors
/// [`GrpcError::Descriptors`] for bytes that are no such message.
pub fn response(message: &[u8]) -> Result<i32, GrpcError> {
    let response = CheckResponse::decode(message);
    response.map(|response| response.status).map_err(|error| GrpcError::Descriptors(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn health_is_a_number() {
        assert_eq!((request(""), request("a")), (Vec::new(), b"\x0a\x01a".to_vec()));
        assert_eq!((response(b"\x08\x01"), response(b"")), (Ok(1), Ok(0)));
        assert!(response(b"\x08").is_err());
    }
}
