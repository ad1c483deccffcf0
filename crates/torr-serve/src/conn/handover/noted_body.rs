//! A response's body on its way to hyper, with what is noted of its request until the body ends.

use super::in_flight::{RequestInFlight, Stage};
use super::unread::UnreadContent;
use crate::conn::context::WorkerContext;
use crate::conn::visit::Note;
use crate::message::hyper_response::BoxBody;
use crate::message::stream::BodyFailed;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{self, Context, Poll};

/// The number of bytes that are given to hyper at a time.
const PART: usize = 16 * 1024;

pub(in crate::conn) struct NotedBody {
    body: BoxBody,
    /// The rest of a piece that is given to hyper in parts.
    rest: Bytes,
    is_endless: bool,
    worker: Rc<WorkerContext>,
    note: Note,
    request: RequestInFlight,
    /// What the handler did not read of the request. Dropped behind `body`, which holds the content if it sends that back.
    _unread: UnreadContent,
}

impl NotedBody {
    pub(super) fn new(
        body: BoxBody,
        worker: Rc<WorkerContext>,
        note: Note,
        request: RequestInFlight,
        unread: UnreadContent,
    ) -> Self {
        let has_more = !body.is_end_stream();
        let is_endless = has_more && body.size_hint().exact().is_none();
        let mut noted = Self { body, rest: Bytes::new(), is_endless, worker, note, request, _unread: unread };
        noted.hold(has_more);
        noted
    }

    /// Notes whether the body waits for hyper to ask for more.
    fn hold(&mut self, is_held: bool) {
        self.request.enter(Stage::Sending { is_endless: self.is_endless, is_held });
    }
}

impl Body for NotedBody {
    type Data = Bytes;
    type Error = BodyFailed;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyFailed>>> {
        if self.rest.is_empty() {
            let worker = Rc::clone(&self.worker);
            let _context = worker.app.enter();
            let frame = Pin::new(&mut self.body).poll_frame(cx);
            self.hold(matches!(frame, Poll::Ready(Some(Ok(_)))));
            match task::ready!(frame).map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => self.rest = data,
                Some(Ok(Err(trailers))) => return Poll::Ready(Some(Ok(trailers))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        } else {
            self.hold(true);
        }
        // hyper takes a piece whole once its stream has any room, and does not report what it has sent of it.
        let fits = self.rest.len().min(PART);
        let part = self.rest.split_to(fits);
        self.note.sent(part.len() as u64);
        Poll::Ready(Some(Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (mut hint, rest) = (self.body.size_hint(), self.rest.len() as u64);
        // The upper bound first: it must not be below the other.
        hint.upper().into_iter().for_each(|upper| hint.set_upper(upper + rest));
        hint.set_lower(hint.lower() + rest);
        hint
    }
}
