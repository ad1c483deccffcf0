//! Requests, responses and their bodies.

pub(crate) mod answer_body;
pub(crate) mod hyper_body;
pub(crate) mod request;
pub(crate) mod request_body;
pub(crate) mod response;
pub(crate) mod stream;
pub(crate) mod upload;
