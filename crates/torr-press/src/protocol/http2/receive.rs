//! The parsing of frames, whole or in part, and the handling of those that concern the connection.

use super::error::{self, Broken, Code};
use super::frame::{self, HEAD, Head, flag, kind};
use super::header_block::HeaderBlock;
use super::{Http2, MOST_CHATTER, ProtocolEvent, hpack};
use torr_net::Nanos;

type Read = Result<(usize, Option<ProtocolEvent>), Broken>;

impl Http2<'_> {
    /// Consumes frames from the front of `input`, up to the next event.
    #[inline]
    pub(super) fn read(&mut self, input: &[u8], at: Nanos, out: &mut Vec<u8>) -> Read {
        let mut used = 0;
        if !self.partial.is_empty() {
            match self.read_partial(input, at, out)? {
                (taken, None) if !self.partial.is_empty() => return Ok((taken, None)),
                (taken, None) => used = taken,
                event => return Ok(event),
            }
        }
        while let Some(head) = Head::read(&input[used..]) {
            self.check(head)?;
            let Some(payload) = input[used + HEAD..].get(..head.len) else { break };
            used += HEAD + head.len;
            if let Some(event) = self.take_frame(head, payload, at, out)? {
                return Ok((used, Some(event)));
            }
        }
        self.partial.extend_from_slice(&input[used..]);
        Ok((input.len(), None))
    }

    /// Completes the frame of which a part has arrived, and handles it.
    #[cold]
    fn read_partial(&mut self, input: &[u8], at: Nanos, out: &mut Vec<u8>) -> Read {
        let mut used = 0;
        loop {
            let head = Head::read(&self.partial);
            if let Some(head) = head {
                self.check(head)?;
            }
            let missing = HEAD + head.map_or(0, |head| head.len) - self.partial.len();
            if let (Some(head), 0) = (head, missing) {
                // Its memory goes with it: most frames arrive whole.
                let whole = std::mem::take(&mut self.partial);
                return Ok((used, self.take_frame(head, &whole[HEAD..], at, out)?));
            }
            let taken = missing.min(input.len() - used);
            if taken == 0 {
                return Ok((used, None));
            }
            self.partial.extend_from_slice(&input[used..used + taken]);
            used += taken;
        }
    }

    /// Checks the header of a frame.
    #[inline]
    fn check(&self, head: Head) -> Result<(), Broken> {
        if !self.peer.is_known && (head.kind != kind::SETTINGS || head.has(flag::ACK)) {
            return Err(Broken::protocol("the server does not support HTTP/2"));
        }
        if head.len > frame::MOST {
            return Err(Broken::size("frame larger than SETTINGS_MAX_FRAME_SIZE"));
        }
        if let Some(block) = &self.block
            && (head.kind != kind::CONTINUATION || head.stream != block.head.stream)
        {
            return Err(Broken::protocol("expected a CONTINUATION frame"));
        }
        Ok(())
    }

    #[inline]
    fn take_frame(
        &mut self,
        head: Head,
        payload: &[u8],
        at: Nanos,
        out: &mut Vec<u8>,
    ) -> Result<Option<ProtocolEvent>, Broken> {
        match head.kind {
            kind::DATA => self.take_data(head, payload, at, out),
            kind::HEADERS => self.begin_head(head, payload, at, out),
            kind::CONTINUATION => self.continue_head(payload, head, at, out),
            kind::RST_STREAM => self.take_reset(head, payload),
            kind::GOAWAY => self.take_goaway(head, payload),
            kind => self.take_control(kind, head, payload, out).map(|()| None),
        }
    }

    fn take_control(&mut self, kind: u8, head: Head, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Broken> {
        match kind {
            kind::SETTINGS | kind::PING if head.stream != 0 => {
                Err(Broken::protocol("connection-level frame on a stream"))
            }
            kind::SETTINGS if head.has(flag::ACK) => match payload {
                [] => Ok(()),
                _ => Err(Broken::size("invalid size of a SETTINGS frame")),
            },
            kind::SETTINGS => {
                self.chat()?;
                let window = self.peer.window;
                self.peer.take(payload)?;
                self.seeding.limit(self.peer.table);
                frame::whole(kind::SETTINGS, flag::ACK, &[], out);
                self.widen_all(self.peer.window - window, out)
            }
            kind::PING if payload.len() != 8 => Err(Broken::size("invalid size of a PING frame")),
            kind::PING if head.has(flag::ACK) => Ok(()),
            kind::PING => {
                self.chat()?;
                frame::whole(kind::PING, flag::ACK, payload, out);
                Ok(())
            }
            kind::WINDOW_UPDATE => self.widen(head, payload, out),
            kind::PUSH_PROMISE => Err(Broken::protocol("PUSH_PROMISE although push is disabled")),
            kind::PRIORITY if head.stream == 0 => Err(Broken::protocol("stream-level frame on stream 0")),
            kind::PRIORITY if payload.len() != 5 => Err(Broken::size("invalid size of a PRIORITY frame")),
            _ => Ok(()),
        }
    }

    /// Limits the replies that a server can demand between responses.
    fn chat(&mut self) -> Result<(), Broken> {
        self.chatter += 1;
        if self.chatter > MOST_CHATTER {
            return Err(Broken::calm("the server sends PING or SETTINGS frames without responding to requests"));
        }
        Ok(())
    }

    fn begin_head(
        &mut self,
        head: Head,
        payload: &[u8],
        at: Nanos,
        out: &mut Vec<u8>,
    ) -> Result<Option<ProtocolEvent>, Broken> {
        let block = frame::unpadded(head, payload).and_then(|block| match head.has(flag::PRIORITY) {
            true => block.get(5..),
            false => Some(block),
        });
        let block = block.ok_or(Broken::protocol("more padding than payload in a frame"))?;
        if head.has(flag::END_HEADERS) {
            return self.take_head(head, block, at, out);
        }
        self.block = Some(Box::new(HeaderBlock { head, bytes: block.to_vec(), frames: 1 }));
        Ok(None)
    }

    #[cold]
    fn continue_head(
        &mut self,
        payload: &[u8],
        head: Head,
        at: Nanos,
        out: &mut Vec<u8>,
    ) -> Result<Option<ProtocolEvent>, Broken> {
        let Some(mut block) = self.block.take() else {
            return Err(Broken::protocol("unexpected CONTINUATION frame"));
        };
        block.bytes.extend_from_slice(payload);
        block.frames += 1;
        // Each frame counts, or empty ones would never come to an end.
        if block.bytes.len() + block.frames * HEAD > hpack::MOST {
            return Err(Broken::calm("the header section is larger than 64 KiB"));
        }
        if head.has(flag::END_HEADERS) {
            return self.take_head(block.head, &block.bytes, at, out);
        }
        self.block = Some(block);
        Ok(None)
    }

    #[cold]
    fn take_reset(&mut self, head: Head, payload: &[u8]) -> Result<Option<ProtocolEvent>, Broken> {
        let code = frame::read_number(payload).map(Code).ok_or(Broken::size("invalid size of a RST_STREAM frame"))?;
        let Some(at) = self.streams.find(head.stream) else { return self.check_closed(head).map(|()| None) };
        let Some(stream) = self.take(at) else { return Ok(None) };
        if code != Code::REFUSED_STREAM || stream.status.is_some() {
            return Ok(Some(ProtocolEvent::Failed(stream.key, error::reset(code))));
        }
        // With others in flight, there were too many. The only one would be refused again.
        let others = self.streams.len();
        self.refused_at = if others == 0 { usize::MAX } else { self.refused_at.min(others) };
        Ok(Some(match others {
            0 => ProtocolEvent::Failed(stream.key, error::reset(code)),
            _ => ProtocolEvent::Unprocessed(stream.key),
        }))
    }

    #[cold]
    fn take_goaway(&mut self, head: Head, payload: &[u8]) -> Result<Option<ProtocolEvent>, Broken> {
        if head.stream != 0 {
            return Err(Broken::protocol("connection-level frame on a stream"));
        }
        let &[a, b, c, d, e, f, g, h] = payload.first_chunk().ok_or(Broken::size("invalid size of a GOAWAY frame"))?;
        let last = u32::from_be_bytes([a, b, c, d]) & i32::MAX as u32;
        let code = Code(u32::from_be_bytes([e, f, g, h]));
        if self.gone_away.is_some_and(|(before, _)| last > before) {
            return Err(Broken::protocol("GOAWAY with a higher stream than an earlier one"));
        }
        self.gone_away = Some((last, code));
        self.is_leaving = true;
        // A server that accepts no requests, connection after connection, would be tried forever.
        let is_wanted = code == Code::NO_ERROR && (self.has_responded || self.fruitless == 0);
        for stream in self.streams.split_beyond(last) {
            self.uploads -= usize::from(stream.upload.is_some());
            self.events.push_back(match is_wanted {
                true => ProtocolEvent::Unprocessed(stream.key),
                false => ProtocolEvent::Failed(stream.key, error::gone_away(code)),
            });
        }
        Ok(self.events.pop_front())
    }

    /// Checks whether a frame for a stream that is not open is allowed.
    #[cold]
    pub(super) fn check_closed(&self, head: Head) -> Result<(), Broken> {
        let is_ours = head.stream % 2 == 1 && head.stream < self.next_stream;
        if !is_ours {
            return Err(Broken::protocol("frame for an idle stream"));
        }
        // These may have been on their way when the stream ended.
        let may_be_late = [kind::WINDOW_UPDATE, kind::RST_STREAM].contains(&head.kind);
        let is_beyond = self.gone_away.is_some_and(|(last, _)| head.stream > last);
        if may_be_late || head.stream <= self.cancelled_to || is_beyond {
            return Ok(());
        }
        Err(Broken { code: Code::STREAM_CLOSED, what: "frame for a closed stream" })
    }
}
