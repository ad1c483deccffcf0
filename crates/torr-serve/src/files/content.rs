//! Responses with the content of files.

use super::conditions::{Conditions, Verdict};
use super::folder::{content_type, open};
use super::form::{Form, Identity};
use super::range::{Wanted, wanted};
use crate::message::file_part::FilePart;
use crate::message::request::Request;
use crate::message::response::{Body, Response, SMALL};
use http::HeaderValue;
use http::header::{ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_RANGE, ETAG, LAST_MODIFIED, VARY};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A request for a file, and what all responses have.
pub(super) struct Sending<'s, 'r> {
    pub request: &'s Request<'r>,
    pub cache_control: Option<&'s HeaderValue>,
}

impl Sending<'_, '_> {
    /// Returns the response with a form, whose content in a range `content` makes. `None` if that makes none.
    ///
    /// # Errors
    /// Those of `content`.
    pub fn form(
        &self,
        form: &Form,
        varies: bool,
        content: impl FnOnce(Range<u64>) -> io::Result<Option<Body>>,
    ) -> io::Result<Option<Response>> {
        let conditions = Conditions::of(self.request);
        match conditions.verdict(form) {
            Verdict::Failed => return Ok(Some(Response::error(412, "Precondition failed\n"))),
            Verdict::NotModified => return Ok(Some(self.described(Response::new(304), form, varies))),
            Verdict::Send => {}
        }
        let length = form.length();
        let (response, range) = match conditions.range(form).map_or(Wanted::Whole, |range| wanted(range, length)) {
            Wanted::Whole => (Response::new(200), 0..length),
            Wanted::Part(range) => {
                let value = of_numbers(format!("bytes {}-{}/{length}", range.start, range.end - 1));
                (Response::new(206).header(CONTENT_RANGE, value), range)
            }
            Wanted::Beyond => {
                let response = Response::error(416, "Range not satisfiable\n");
                return Ok(Some(response.header(CONTENT_RANGE, of_numbers(format!("bytes */{length}")))));
            }
        };
        let Some(body) = content(range)? else { return Ok(None) };
        let mut response = self.described(response, form, varies);
        (response.content_type, response.body) = (form.content_type, body);
        let response = response.header(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        Ok(Some(match form.coding {
            Some(coding) => response.header(CONTENT_ENCODING, HeaderValue::from_static(coding.name())),
            None => response,
        }))
    }

    /// Adds the fields that a response without content has as well.
    fn described(&self, response: Response, form: &Form, varies: bool) -> Response {
        let vary = HeaderValue::from_static("Accept-Encoding");
        let fields = [
            (ETAG, Some(form.tag_value())),
            (LAST_MODIFIED, form.last_modified()),
            (CACHE_CONTROL, self.cache_control),
            (VARY, varies.then_some(&vary)),
        ];
        let given = fields.into_iter().filter_map(|(name, value)| Some((name, value?.clone())));
        given.fold(response, |response, (name, value)| response.header(name, value))
    }
}

fn of_numbers(text: String) -> HeaderValue {
    HeaderValue::try_from(text).expect("it has digits and a few signs")
}

/// Returns the content of a file in a range: read at once if it is short, otherwise as the client takes it.
///
/// # Errors
/// If the file cannot be read.
pub(super) fn part(file: File, range: Range<u64>) -> io::Result<Body> {
    let mut part = FilePart::new(file, range);
    if part.length() > SMALL as u64 {
        return Ok(Body::File(part));
    }
    let mut content = Vec::new();
    part.read(&mut content, SMALL)?;
    Ok(content.into())
}

/// Returns the response with a file by its path; `None` if there is no regular file that may be read.
///
/// # Errors
/// If the system has no file descriptors or memory left, or the disk fails.
pub(super) fn file(request: &Request<'_>, path: &Path) -> io::Result<Option<Response>> {
    let Some((file, stat)) = open(path)? else { return Ok(None) };
    let Some(identity) = Identity::of(&stat) else { return Ok(None) };
    let name = path.as_os_str().as_bytes();
    let form = Form::new(name.to_owned(), identity, content_type(name), None);
    Sending { request, cache_control: None }.form(&form, false, |range| part(file, range).map(Some))
}
