//! Requests, responses and their bodies.

pub(crate) mod body_channel;
pub(crate) mod body_error;
pub(crate) mod body_pace;
pub(crate) mod bounded_body;
pub(crate) mod file_part;
pub(crate) mod hyper_response;
pub(crate) mod request;
pub(crate) mod request_body;
pub(crate) mod response;
pub(crate) mod stream;
