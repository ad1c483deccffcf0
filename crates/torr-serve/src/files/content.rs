//! Responses with the content of files.

use super::conditions::{Conditions, Verdict};
use super::folder::{content_type, open};
use super::form::{Form, Identity};
use super::range::{Wanted, wanted};
use crate::message::request::Request;
use crate::message::response::{Body, Pieces, Response, SMALL};
use bytes::Bytes;
use http::HeaderValue;
use http::header::{ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_RANGE, ETAG, LAST_MODIFIED, VARY};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
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

/// Returns the content of a file in a range: at once if it is short, otherwise read as the client takes it.
///
/// # Errors
/// If the file cannot be read.
pub(super) fn pieces(file: File, mut range: Range<u64>) -> io::Result<Body> {
    let length = range.end - range.start;
    let mut read = move || {
        let mut piece = vec![0; (range.end - range.start).min(SMALL as u64) as usize];
        let got = file.read_at(&mut piece, range.start)?;
        piece.truncate(got);
        range.start += got as u64;
        // A file that has become shorter ends the response early, and with it the connection.
        Ok::<_, io::Error>((got > 0).then(|| Bytes::from(piece)))
    };
    if length == 0 {
        return Ok(Body::Empty);
    }
    let first = if length <= SMALL as u64 { read()? } else { None };
    if let Some(whole) = first.as_ref().filter(|piece| piece.len() as u64 == length) {
        return Ok(Body::Bytes(whole.clone()));
    }
    let rest = first.into_iter().chain(std::iter::from_fn(move || read().ok().flatten()));
    Ok(Body::Pieces(Pieces { length, next: Box::new(rest) }))
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
    Sending { request, cache_control: None }.form(&form, false, |range| pieces(file, range).map(Some))
}
