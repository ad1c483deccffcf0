//! Requests by curl, which is what the contest's validation sends them by.

use flate2::read::GzDecoder;
use serde_json::Value;
use std::fs;
use std::io::Read;
use torr_test_support::program::run;

/// The most bytes of a response's header section that the contest's load generator reads, and the most fields.
const HEADER_SECTION: (usize, usize) = (1_023, 16);

/// A response as curl has received it.
#[derive(Debug)]
pub struct Got {
    pub status: u16,
    /// The version of HTTP: `1.1` or `2`.
    pub version: String,
    /// Header sections of interim responses and of the response, as lines.
    pub header: String,
    pub content: Vec<u8>,
}

/// Sends a request, with these arguments before the URL.
pub fn curl(args: &[&str], url: &str) -> Got {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let path = |name: &str| folder.path().join(name).into_os_string().into_string().expect("the path is UTF-8");
    let (header, content) = (path("header"), path("content"));
    let own = ["-sSk", "--max-time", "50", "-w", "%{response_code} %{http_version}", "-D", &header, "-o", &content];
    let ended = run("curl", &[&own, args, &[url]].concat());
    assert_eq!(ended.code, Some(0), "{args:?} {url}: {ended:?}");
    let (status, version) = ended.stdout.split_once(' ').expect("curl writes what it is told to");
    let got = Got {
        status: status.parse().expect("curl writes a number"),
        version: version.to_owned(),
        header: fs::read_to_string(header).expect("a response has a header section"),
        // There is no such file where there is no content.
        content: fs::read(content).unwrap_or_default(),
    };
    let last = got.last_section();
    let fields = last.lines().count() - 1;
    assert!(last.len() <= HEADER_SECTION.0 && fields <= HEADER_SECTION.1, "{url}: {last}");
    got
}

/// Sends a GET.
pub fn get(url: &str) -> Got {
    curl(&[], url)
}

impl Got {
    fn last_section(&self) -> &str {
        let sections = self.header.trim_end();
        sections.rsplit_once("\r\n\r\n").map_or(sections, |(_, last)| last)
    }

    /// Returns the value of a field of the response.
    pub fn field(&self, name: &str) -> Option<&str> {
        let mut fields = self.last_section().lines().filter_map(|line| line.split_once(": "));
        fields.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Returns the media type without parameters.
    pub fn media_type(&self) -> &str {
        self.field("content-type").unwrap_or_default().split(';').next().unwrap_or_default().trim()
    }

    /// Returns the content without its encoding.
    pub fn decoded(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self.field("content-encoding") {
            None => return self.content.clone(),
            Some("gzip") => GzDecoder::new(&self.content[..]).read_to_end(&mut bytes).expect("it is gzip"),
            Some("br") => brotli::Decompressor::new(&self.content[..], 4096).read_to_end(&mut bytes).expect("it is br"),
            other => panic!("unknown encoding: {other:?}"),
        };
        bytes
    }

    /// Returns the text of a response that succeeded, in plain text.
    #[track_caller]
    pub fn text(&self) -> &str {
        assert_eq!((self.status, self.media_type()), (200, "text/plain"), "{self:?}");
        std::str::from_utf8(&self.content).expect("it is text")
    }

    /// Returns the value of a response that succeeded, in JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!((self.status, self.media_type()), (200, "application/json"), "{self:?}");
        serde_json::from_slice(&self.decoded()).expect("it is JSON")
    }
}
