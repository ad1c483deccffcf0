//! Requests: their header sections and content, on streams of their own.

use super::Http3;
use super::buffers::Http3Buffers;
use super::encoded::EncodedRequest;
use super::stream::{Stream, Upload};
use crate::response::events::EventWatch;
use crate::response::inspect::Inspector;
use crate::response::kept::KeptResponse;
use crate::work::source::Source;
use torr_net::quic::{QuicConnection, StreamId};

/// The bytes of content that are handed to QUIC at a time.
const PIECE: usize = 256 * 1024;

impl Http3<'_> {
    /// Writes the next request to a stream of its own, as far as the windows allow. Returns whether its method is HEAD.
    pub(super) fn start_request(&mut self, buffers: &mut Http3Buffers, key: u32, source: &mut Source<'_>) -> bool {
        let (frames, content, info) = match source.is_constant() {
            true => {
                let section = &mut buffers.section;
                let request = buffers.constant.get_or_insert_with(|| EncodedRequest::new(source.parts(), section));
                (request.frames.clone(), request.content.clone(), request.info)
            }
            false => {
                let request = EncodedRequest::new(source.parts(), &mut buffers.section);
                (request.frames, request.content, request.info)
            }
        };
        let (Some(quic), Some(id)) = (&mut self.quic, self.next.take()) else { return info.is_head };
        self.next = quic.open();
        let mut upload = Upload { piece: frames, content };
        let upload = if send(quic, id, &mut upload) { None } else { Some(Box::new(upload)) };
        let inspector = self.inspection.map(|(what, target)| Box::new(Inspector::new(what, target)));
        let kept = KeptResponse::wanted(&info);
        let demanding = self.event_plan.filter(|plan| plan.demands_streams);
        let events = demanding.map(|plan| Box::new(EventWatch::new(plan)));
        self.streams.push(Stream { upload, kept, inspector, events, ..Stream::new(id, key, info.is_head) });
        info.is_head
    }

    /// Sends more of the content of a stream that takes bytes again.
    pub(super) fn go_on_uploading(&mut self, id: StreamId) {
        let (Some(quic), Some(at)) = (&mut self.quic, self.streams.find(id)) else { return };
        let stream = self.streams.at(at);
        if stream.upload.as_mut().is_some_and(|upload| send(quic, id, upload)) {
            stream.upload = None;
        }
    }
}

/// Sends frames and content as far as the windows allow, and ends the stream behind them. Returns whether all was sent.
fn send(quic: &mut QuicConnection, id: StreamId, upload: &mut Upload) -> bool {
    loop {
        if !quic.write(id, &mut upload.piece) {
            return false;
        }
        if upload.content.is_empty() {
            quic.finish(id);
            return true;
        }
        upload.piece = upload.content.take(PIECE);
    }
}
