//! Files below a folder, sent by controllers.

mod cache;
mod conditions;
mod content;
mod encodings;
mod folder;
mod form;
mod location;
mod range;
mod resource;

use crate::message::request::Request;
use crate::message::response::Response;
use cache::Cache;
use content::Sending;
use encodings::Accepted;
use folder::{Folder, Found};
use http::HeaderValue;
use http::header::LOCATION;
use resource::Resource;
use std::io;
use std::path::Path;
use std::rc::Rc;

/// The files below a folder, for [`App::files`](crate::App::files).
///
/// Responses have `ETag` and `Last-Modified`, and conditional requests and ranges get what RFC 9110 says (sections 13 and 14). Where
/// `x.js.br`, `x.js.zst` or `x.js.gz` lies beside `x.js`, it is sent to clients that accept that coding. The path of a folder has the
/// content of its index file. Nothing outside of the folder is sent: no path leads out of it, and neither does a symbolic link. Files and
/// folders whose names begin with a dot are left out, `.well-known` excepted.
///
/// Each worker keeps small files in memory and looks at a file's metadata for each request, so that a changed file is sent at
/// once. Files are read on the worker, which a slow disk blocks.
#[derive(Debug)]
pub struct Files {
    folder: Folder,
    cache_control: Option<HeaderValue>,
    index: String,
    fallback: Option<String>,
    shows_hidden: bool,
    cache_bytes: usize,
}

impl Files {
    /// Returns the files below a folder, which stays open: if it is replaced, the old one is served until the program starts again.
    ///
    /// # Errors
    /// If the folder cannot be opened, or the kernel has no `openat2` (Linux before 5.6).
    pub fn new(folder: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self {
            folder: Folder::open(folder.as_ref())?,
            cache_control: None,
            index: "index.html".into(),
            fallback: None,
            shows_hidden: false,
            cache_bytes: 32 << 20,
        })
    }

    /// Adds `Cache-Control` to responses: for how long clients and proxies may use a file without a request.
    #[must_use]
    pub fn cache_control(self, value: HeaderValue) -> Self {
        Self { cache_control: Some(value), ..self }
    }

    /// Names the file that is sent for the path of a folder instead of `index.html`.
    #[must_use]
    pub fn index(self, name: impl Into<String>) -> Self {
        Self { index: name.into(), ..self }
    }

    /// Sends this file, below the folder, for paths that no file has, with status 200: the page of a single-page application.
    #[must_use]
    pub fn fallback(self, path: impl Into<String>) -> Self {
        Self { fallback: Some(path.into()), ..self }
    }

    /// Whether files and folders whose names begin with a dot are sent as well.
    #[must_use]
    pub fn hidden(self, shows_hidden: bool) -> Self {
        Self { shows_hidden, ..self }
    }

    /// Changes the number of bytes that each worker may keep of files in memory, 32 MiB by default; 0 keeps none.
    #[must_use]
    pub fn cache_bytes(self, cache_bytes: usize) -> Self {
        Self { cache_bytes, ..self }
    }

    /// Returns the response to a GET or HEAD of a path below the folder, percent-encoded and without a slash in front. 503 where the
    /// system has no file descriptors or memory left, or the disk fails.
    pub fn respond(&self, path: &str, request: &Request<'_>) -> Response {
        let found = self.find(path, request, true);
        match (found, &self.fallback) {
            // A folder is no page.
            (Ok(None), Some(page)) => found_or_missing(self.find(page, request, false)),
            (found, _) => found_or_missing(found),
        }
    }

    fn find(&self, path: &str, request: &Request<'_>, redirects: bool) -> io::Result<Option<Response>> {
        let Some(location) = location::below(path, self.shows_hidden) else { return Ok(None) };
        let sending = Sending { request, cache_control: self.cache_control.as_ref() };
        // A file that is replaced between two looks at it is looked up anew, but not for ever.
        for _ in 0..3 {
            let resource = match Cache::with(self.folder.number(), |cache| cache.get(&location)) {
                Some(known) => known,
                None => match self.folder.find(&location, &self.index)? {
                    None => return Ok(None),
                    Some(Found::Folder) => return Ok(redirects.then(|| moved(request))),
                    Some(Found::File(resource)) => {
                        let resource = Rc::new(resource);
                        if resource.is_settled() {
                            Cache::with(self.folder.number(), |cache| {
                                cache.put(&location, &resource, self.cache_bytes);
                            });
                        }
                        resource
                    }
                },
            };
            if let Some(response) = self.send(&resource, &sending)? {
                return Ok(Some(response));
            }
            Cache::with(self.folder.number(), |cache| cache.remove(&location));
        }
        Ok(None)
    }

    /// Returns the response with the best form of a resource; `None` if its files are others than those that were looked at.
    fn send(&self, resource: &Resource, sending: &Sending<'_, '_>) -> io::Result<Option<Response>> {
        let form = match resource.forms() {
            [only] => only,
            forms => Accepted::by(sending.request).best(forms),
        };
        if !self.folder.has(form) {
            return Ok(None);
        }
        let varies = resource.forms().len() > 1;
        sending.form(form, varies, |range| {
            if form.is_small() {
                let content = form.cached(|| self.folder.read(form))?;
                return Ok(content.map(|content| content.slice(range.start as usize..range.end as usize).into()));
            }
            self.folder.reopen(form)?.map(|file| content::part(file, range)).transpose()
        })
    }
}

impl Response {
    /// Returns the response with a file: its content type by its name, `ETag` and `Last-Modified`, and what conditional requests and
    /// ranges of `request` get; 404 if there is no regular file that may be read. The path is the application's: one that a client has a
    /// part in belongs below the folder of [`Files`].
    ///
    /// ```
    /// use torr_serve::{App, Response};
    ///
    /// let app = App::new().get("/report", |request| Response::file(request, "/srv/reports/latest.pdf"));
    /// # drop(app);
    /// ```
    pub fn file(request: &Request<'_>, path: impl AsRef<Path>) -> Self {
        found_or_missing(content::file(request, path.as_ref()))
    }
}

/// Returns the redirect to a folder's path with the slash at its end, by which links in its page are relative to it.
fn moved(request: &Request<'_>) -> Response {
    // Two slashes in front would lead to another host.
    let path = format!("/{}/", request.path().trim_matches('/'));
    let target = match request.query() {
        Some(query) => format!("{path}?{query}"),
        None => path,
    };
    match HeaderValue::try_from(target) {
        Ok(target) => Response::error(301, "Moved permanently\n").header(LOCATION, target),
        Err(_) => missing(),
    }
}

/// Returns the response to what was looked for.
fn found_or_missing(found: io::Result<Option<Response>>) -> Response {
    match found {
        Ok(found) => found.unwrap_or_else(missing),
        Err(_) => Response::error(503, "The file cannot be read now\n"),
    }
}

/// Returns the response to a path that no file has.
fn missing() -> Response {
    Response::error(404, "Not found\n")
}
