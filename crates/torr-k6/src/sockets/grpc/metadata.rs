//! Header fields of calls: those of a request, and those that scripts see of a response (gRPC over HTTP/2).

use super::binary::{decoded, encoded};
use super::call::{Call, Metadata, Opening};
use super::status::Fault;
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use torr_grpc::timeout_field;

/// The fields that belong to gRPC, which scripts do not set.
const OWN: [&str; 8] = [
    "content-type",
    "grpc-encoding",
    "grpc-message",
    "grpc-message-type",
    "grpc-status",
    "grpc-timeout",
    "te",
    "user-agent",
];
/// The fields of a response that are not part of its metadata.
const HIDDEN: [&str; 3] = ["grpc-message", "grpc-status", "grpc-status-details-bin"];
/// Returns the request of a call.
///
/// # Errors
/// If a field cannot be sent.
pub(super) fn request(opening: &Opening, call: &Call) -> Result<Request<()>, Fault> {
    let scheme = opening.server.origin.split("://").next().unwrap_or("http");
    let uri = format!("{scheme}://{}{}", opening.authority, call.path);
    let mut request = Request::post(uri).body(()).map_err(|error| Fault::internal(error.to_string()))?;
    let fields = request.headers_mut();
    fields.insert("content-type", HeaderValue::from_static("application/grpc"));
    if let Ok(agent) = HeaderValue::from_str(&opening.user_agent) {
        fields.insert("user-agent", agent);
    }
    fields.insert("te", HeaderValue::from_static("trailers"));
    if let Some(timeout) = call.timeout {
        let left = timeout.saturating_sub(call.began.elapsed());
        fields.insert("grpc-timeout", HeaderValue::from_str(&timeout_field(left)).map_err(Fault::of_value)?);
    }
    for (name, value) in &call.metadata {
        if OWN.contains(&name.as_str()) || name.starts_with(':') {
            continue;
        }
        let value = HeaderValue::from_bytes(&encoded(name, value)).map_err(Fault::of_value)?;
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| Fault::internal(error.to_string()))?;
        fields.append(name, value);
    }
    Ok(request)
}

/// Returns the metadata of a response.
pub(super) fn of_response(fields: &HeaderMap) -> Metadata {
    let seen = fields.iter().filter(|(name, _)| !HIDDEN.contains(&name.as_str()));
    seen.map(|(name, value)| (name.as_str().to_owned(), decoded(name.as_str(), value.as_bytes()))).collect()
}
