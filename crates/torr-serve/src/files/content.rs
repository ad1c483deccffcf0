//! Responses with the content of files.

use super::conditions::{Conditions, Verdict};
use super::folder::content_type;
use super::form::{Form, Identity};
use super::range::{Wanted, wanted};
use crate::message::request::Request;
use crate::message::response::{Body, Pieces, Response, SMALL};
use bytes::Bytes;
use http::HeaderValue;
use http::header::{ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_RANGE, ETAG, LAST_MODIFIED, VARY};
use rustix::fs::{CWD, Mode, OFlags, fstat, openat};
use std::fs::File;
use std::ops::Range;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A request for a file, and what all responses have.
pub(super) struct Sending<'s, 'r> {
    pub request: &'s Request<'r>,
    pub cache_control: Option<&'s HeaderValue>,
}

impl Sending<'_, '_> {
    /// Returns the response with a form, whose content in a range `content` makes. `None` if that is not to be had.
    pub fn form(
        &self,
        form: &Form,
        varies: bool,
        content: impl FnOnce(Range<u64>) -> Option<Body>,
    ) -> Option<Response> {
        let conditions = Conditions::of(self.request);
        let all = 0..form.length();
        let (response, range) = match conditions.verdict(form) {
            Verdict::Failed => return Some(Response::error(412, "Precondition failed\n")),
            Verdict::NotModified => return Some(self.described(Response::new(304), form, varies)),
            Verdict::Send => match conditions.range(form).map_or(Wanted::Whole, |range| wanted(range, form.length())) {
                Wanted::Whole => (Response::new(200), all),
                Wanted::Part(range) if self.request.method() == "GET" => {
                    let value = format!("bytes {}-{}/{}", range.start, range.end - 1, form.length());
                    (Response::new(206).header(CONTENT_RANGE, of_numbers(value)), range)
                }
                Wanted::Beyond if self.request.method() == "GET" => {
                    let value = of_numbers(format!("bytes */{}", form.length()));
                    return Some(Response::error(416, "Range not satisfiable\n").header(CONTENT_RANGE, value));
                }
                Wanted::Part(_) | Wanted::Beyond => (Response::new(200), all),
            },
        };
        let body = content(range)?;
        let mut response = self.described(response, form, varies);
        (response.content_type, response.body) = (form.content_type, body);
        let response = response.header(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        Some(match form.coding {
            Some(coding) => response.header(CONTENT_ENCODING, HeaderValue::from_static(coding.name())),
            None => response,
        })
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
pub(super) fn pieces(file: File, mut range: Range<u64>) -> Option<Body> {
    let length = range.end - range.start;
    let mut read = move || {
        let mut piece = vec![0; (range.end - range.start).min(SMALL as u64) as usize];
        // A file that has become shorter ends the response early, and with it the connection.
        let got = file.read_at(&mut piece, range.start).ok().filter(|got| *got > 0)?;
        piece.truncate(got);
        range.start += got as u64;
        Some(Bytes::from(piece))
    };
    if length == 0 {
        return Some(Body::Empty);
    }
    if length <= SMALL as u64 {
        let whole = read()?;
        if whole.len() as u64 == length {
            return Some(Body::Bytes(whole));
        }
        let rest = std::iter::once(whole).chain(std::iter::from_fn(read));
        return Some(Body::Pieces(Pieces { length, next: Box::new(rest) }));
    }
    Some(Body::Pieces(Pieces { length, next: Box::new(std::iter::from_fn(read)) }))
}

/// Returns the response with a file by its path; `None` if there is no regular file that can be read.
pub(super) fn file(request: &Request<'_>, path: &Path) -> Option<Response> {
    let how = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file: File = openat(CWD, path, how, Mode::empty()).ok()?.into();
    let identity = Identity::of(&fstat(file.as_fd()).ok()?)?;
    let name = path.as_os_str().as_bytes();
    let form = Form::new(name.to_owned(), identity, content_type(name), None);
    Sending { request, cache_control: None }.form(&form, false, |range| pieces(file, range))
}
