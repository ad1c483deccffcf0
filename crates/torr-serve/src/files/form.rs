//! A form of a resource: one file, as it was when it was looked at.

use bytes::Bytes;
use http::HeaderValue;
use rustix::fs::Stat;
use std::cell::OnceCell;
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The size in bytes up to which content is kept in memory.
pub(super) const LARGEST_CACHED: u64 = 256 * 1024;

/// A coding of content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    Brotli,
    Zstandard,
    Gzip,
}

impl Coding {
    /// All of them, the best first.
    pub const ALL: [Self; 3] = [Self::Brotli, Self::Zstandard, Self::Gzip];

    /// Returns the name in `Content-Encoding`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Zstandard => "zstd",
            Self::Gzip => "gzip",
        }
    }

    /// Returns what is appended to the name of the plain file.
    pub fn suffix(self) -> &'static [u8] {
        match self {
            Self::Brotli => b".br",
            Self::Zstandard => b".zst",
            Self::Gzip => b".gz",
        }
    }
}

/// What tells one content of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, u64),
    /// When anything of the file changed last: it tells what a program hides that sets the time of modification.
    changed: (i64, u64),
}

/// How long after a change of a file another one may have the same time: the ticks of kernels before 6.13, and some room.
const SAME_TIME: Duration = Duration::from_millis(20);

impl Identity {
    /// Returns the identity of a regular file; `None` for anything else.
    #[expect(clippy::unnecessary_cast, reason = "the types differ between architectures")]
    pub fn of(stat: &Stat) -> Option<Self> {
        let is_file = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file();
        is_file.then_some(Self {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            size: stat.st_size as u64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as u64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as u64),
        })
    }

    /// Whether a later change of the file would be known by its time.
    pub fn is_settled(&self) -> bool {
        let (seconds, nanos) = self.changed;
        let changed = u64::try_from(seconds).map(|seconds| UNIX_EPOCH + Duration::new(seconds, nanos as u32));
        // One of the future is known by nothing.
        changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|since| since > SAME_TIME))
    }
}

/// A form of a resource.
#[derive(Debug)]
pub(super) struct Form {
    /// The path below the folder.
    pub path: Vec<u8>,
    pub identity: Identity,
    pub content_type: &'static str,
    pub coding: Option<Coding>,
    tag: HeaderValue,
    /// The time of modification as a field; `None` for one in the future, which a server may not send (RFC 9110, section 8.8.2.1).
    last_modified: Option<HeaderValue>,
    content: OnceCell<Bytes>,
}

impl Form {
    pub fn new(path: Vec<u8>, identity: Identity, content_type: &'static str, coding: Option<Coding>) -> Self {
        let (seconds, nanos) = identity.modified;
        // Compressors give what they write the time of what they read: two forms may have time and size in common.
        let coded = coding.map_or_else(String::new, |coding| format!("-{}", coding.name()));
        let tag = format!("\"{seconds:x}.{nanos:x}-{:x}{coded}\"", identity.size);
        let modified = u64::try_from(seconds).ok().map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds));
        let past = modified.filter(|modified| *modified <= SystemTime::now());
        let value = |text: String| HeaderValue::try_from(text).expect("hexadecimal digits and dates are valid values");
        Self {
            path,
            identity,
            content_type,
            coding,
            tag: value(tag),
            last_modified: past.map(httpdate::fmt_http_date).map(value),
            content: OnceCell::new(),
        }
    }

    /// Returns the length in bytes.
    pub fn length(&self) -> u64 {
        self.identity.size
    }

    /// Returns the entity tag, a strong one.
    pub fn tag(&self) -> &[u8] {
        self.tag.as_bytes()
    }

    pub fn tag_value(&self) -> &HeaderValue {
        &self.tag
    }

    pub fn last_modified(&self) -> Option<&HeaderValue> {
        self.last_modified.as_ref()
    }

    /// Whether it was modified after this second since 1970.
    pub fn is_newer_than(&self, second: u64) -> bool {
        u64::try_from(self.identity.modified.0).is_ok_and(|modified| modified > second)
    }

    /// Whether it was modified in this second since 1970.
    pub fn is_of(&self, second: u64) -> bool {
        u64::try_from(self.identity.modified.0).is_ok_and(|modified| modified == second)
    }

    /// Whether the content may be kept in memory.
    pub fn is_small(&self) -> bool {
        self.length() <= LARGEST_CACHED
    }

    /// Returns the content, which `read` reads once; `None` if it reads none.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn cached(&self, read: impl FnOnce() -> io::Result<Option<Bytes>>) -> io::Result<Option<&Bytes>> {
        if self.content.get().is_none()
            && let Some(content) = read()?
        {
            // Nothing else fills it: this is its only place, on its only thread.
            let _ = self.content.set(content);
        }
        Ok(self.content.get())
    }

    /// Returns the number of bytes that it takes in memory with its content.
    pub fn footprint(&self) -> usize {
        let content = if self.is_small() { self.length() as usize } else { 0 };
        size_of::<Self>() + self.path.len() + content
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::{Coding, Form, Identity};
    use std::time::{SystemTime, UNIX_EPOCH};

    /// A form that no test opens.
    pub fn of_coding(coding: Option<Coding>) -> Form {
        let identity = Identity { device: 1, inode: 1, size: 9, modified: (784_111_777, 5), changed: (784_111_777, 5) };
        Form::new(b"a".to_vec(), identity, "text/css", coding)
    }

    #[test]
    fn a_file_that_changed_just_now_may_change_again_unseen() {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is not 1970");
        let changed = |seconds: i64| Identity {
            changed: (since.as_secs() as i64 + seconds, since.subsec_nanos().into()),
            ..of_coding(None).identity
        };
        assert!(of_coding(None).identity.is_settled() && changed(-1).is_settled());
        assert!(!changed(0).is_settled() && !changed(3600).is_settled());
    }

    #[test]
    fn a_form_has_a_tag_and_a_date() {
        let form = of_coding(None);
        assert_eq!(form.tag(), b"\"2ebc98a1.5-9\"");
        assert_eq!(form.last_modified().map(|value| value.as_bytes()), Some(&b"Sun, 06 Nov 1994 08:49:37 GMT"[..]));
        assert!(form.is_newer_than(784_111_776) && !form.is_newer_than(784_111_777) && form.is_of(784_111_777));
    }
}
