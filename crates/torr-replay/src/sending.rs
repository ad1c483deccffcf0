//! The sending of one request of a log, for users who differ in how they come to it.

use crate::request::RequestTemplate;
use bytes::Bytes;
use torr_logs::LoggedRequest;
use torr_press::request::{LEAST_SHARED, SentContent, sent_secrets};
use torr_press::{RequestInfo, RequestParts};

/// Returns the facts of a request.
fn info(request: &LoggedRequest) -> RequestInfo {
    RequestInfo { is_head: request.method == "HEAD", ..RequestInfo::default() }
}

impl RequestTemplate {
    /// Appends a request in HTTP/1.1. Returns its content where that is left out: it is large.
    pub(crate) fn send(&self, request: &LoggedRequest, out: &mut Vec<u8>) -> (RequestInfo, Option<Bytes>) {
        self.write(request, out);
        let content = Some(&request.body).filter(|body| body.len() >= LEAST_SHARED).cloned();
        if content.is_none() {
            out.extend_from_slice(&request.body);
        }
        (info(request), content)
    }

    /// Returns a request in parts, with its content.
    pub(crate) fn whole(&self, request: &LoggedRequest) -> RequestParts {
        let body = Some(&request.body).filter(|body| !body.is_empty()).cloned();
        RequestParts { head: self.parts(request), body: body.map(SentContent::from), begun: info(request) }
    }

    /// Returns the secrets that a request sends.
    pub(crate) fn secrets(&self, request: &LoggedRequest) -> Vec<String> {
        let mut bytes = Vec::new();
        self.write(request, &mut bytes);
        bytes.extend_from_slice(&request.body);
        sent_secrets(&bytes)
    }
}

/// Whether a response is no failure. What failed in the log is expected to fail now.
pub(crate) fn passes(request: &LoggedRequest, status: u16) -> bool {
    status < 400 || request.status == Some(status)
}
