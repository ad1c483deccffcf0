//! Content of requests, within the flow-control windows of the server, and the reset of streams.

use super::error::{Broken, Code};
use super::frame::{self, Head, flag, kind};
use super::{Http2, MOST_AT_ONCE, Stream};
use crate::request::SentContent;

impl<'p> Http2<'p> {
    /// Sends the content of the youngest stream, as far as the windows allow.
    #[inline]
    pub(super) fn begin_upload(&mut self, body: SentContent, out: &mut Vec<u8>) {
        let at = self.streams.len() - 1;
        self.streams.at(at).upload = Some(body);
        self.uploads += 1;
        // Older ones come first.
        if self.uploads == 1 {
            self.go_on_uploading(out);
        } else if self.window > 0 && self.peer.is_known && !self.is_upload_paused {
            let stream = self.streams.at(at);
            upload(stream, &mut self.window, &mut self.uploads, &mut self.upload_room, self.peer.frame, out);
            self.pause_upload();
        }
    }

    /// Pauses the content that is left if so much has been written at a time.
    fn pause_upload(&mut self) {
        if self.upload_room == 0 {
            self.upload_room = MOST_AT_ONCE;
            self.is_upload_paused = self.uploads > 0;
        }
    }

    /// Sends the content of all streams, as far as the windows allow.
    pub(super) fn go_on_uploading(&mut self, out: &mut Vec<u8>) {
        // A server with small windows fails on content that was sent before its settings arrived.
        if self.uploads == 0 || !self.peer.is_known || self.is_upload_paused {
            return;
        }
        for stream in self.streams.iter_mut() {
            if self.window <= 0 || self.upload_room == 0 {
                break;
            }
            upload(stream, &mut self.window, &mut self.uploads, &mut self.upload_room, self.peer.frame, out);
        }
        self.pause_upload();
    }

    /// Handles WINDOW_UPDATE, of one stream or of the connection.
    pub(super) fn widen(&mut self, head: Head, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Broken> {
        let Some(number) = frame::read_number(payload) else {
            return Err(Broken::size("invalid size of a WINDOW_UPDATE frame"));
        };
        let by = i64::from(number & i32::MAX as u32);
        if by == 0 {
            return Err(Broken::protocol("WINDOW_UPDATE with an increment of 0"));
        }
        let window = match head.stream {
            0 => &mut self.window,
            stream => match self.streams.find(stream) {
                Some(at) => &mut self.streams.at(at).window,
                None => return self.check_closed(head),
            },
        };
        *window += by;
        if *window > frame::MOST_WINDOW {
            return Err(Broken::flow("flow-control window too large"));
        }
        self.go_on_uploading(out);
        Ok(())
    }

    /// Changes the windows of all streams by the difference of SETTINGS_INITIAL_WINDOW_SIZE.
    pub(super) fn widen_all(&mut self, by: i64, out: &mut Vec<u8>) -> Result<(), Broken> {
        for stream in self.streams.iter_mut() {
            stream.window += by;
            if stream.window > frame::MOST_WINDOW {
                return Err(Broken::flow("flow-control window too large"));
            }
        }
        self.go_on_uploading(out);
        Ok(())
    }

    /// Removes a stream, and resets it by RST_STREAM.
    pub(super) fn give_up(&mut self, at: usize, code: Code, out: &mut Vec<u8>) -> Option<Stream<'p>> {
        let stream = self.take(at)?;
        self.cancelled_to = self.cancelled_to.max(stream.id);
        frame::number(kind::RST_STREAM, stream.id, code.0, out);
        Some(stream)
    }

    /// Removes a stream.
    #[inline]
    pub(super) fn take(&mut self, at: usize) -> Option<Stream<'p>> {
        let stream = self.streams.remove(at)?;
        self.uploads -= usize::from(stream.upload.is_some());
        Some(stream)
    }
}

/// Writes content of a stream as far as the windows and the `room` for what is written at a time allow.
fn upload(
    stream: &mut Stream<'_>,
    window: &mut i64,
    uploads: &mut usize,
    room: &mut usize,
    most: usize,
    out: &mut Vec<u8>,
) {
    let Some(body) = &mut stream.upload else { return };
    while *window > 0 && stream.window > 0 && *room > 0 {
        let allowed = (*window).min(stream.window) as usize;
        let len = body.len().min(allowed).min(most).min(*room);
        let is_all = len == body.len();
        let flags = if is_all { flag::END_STREAM } else { 0 };
        Head { len, kind: kind::DATA, flags, stream: stream.id }.write(out);
        body.move_to(len, out);
        *window -= len as i64;
        stream.window -= len as i64;
        *room -= len;
        if is_all {
            stream.upload = None;
            *uploads -= 1;
            return;
        }
    }
}
