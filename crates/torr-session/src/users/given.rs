//! A response as it was kept, as captures and asserts see it.

use crate::query::Received;
use std::borrow::Cow;
use std::time::Duration;
use torr_press::users::ReceivedBy;

/// Returns the response for the expectations of an entry, without the URL and the redirects that led to it.
pub fn received<'r>(by: &'r ReceivedBy<'_>) -> Received<'r> {
    let response = by.response;
    let content = response.decoded();
    let is_coded = matches!(content, Cow::Owned(_));
    Received {
        status: response.status,
        version: response.version,
        fields: response.fields().collect(),
        content,
        raw_content: is_coded.then(|| response.content()),
        address: by.address,
        certificate: by.certificate,
        duration: Duration::from_nanos(by.took),
        ..Received::default()
    }
}
