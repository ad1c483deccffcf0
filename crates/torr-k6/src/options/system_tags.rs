//! System tags: tags that samples get without the script's doing, and which of them are on.

use super::error::OptionError;

/// A tag that samples get without the script's doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum SystemTag {
    /// The name of a check.
    Check,
    /// The text of a request's error.
    Error,
    /// The number of a request's error.
    ErrorCode,
    /// Whether the response's status was expected.
    ExpectedResponse,
    /// The path of the groups.
    Group,
    /// The server's address.
    Ip,
    /// The iteration's number, which is metadata.
    Iter,
    /// The request's method.
    Method,
    /// The name of the request.
    Name,
    /// The status of the certificate's OCSP response.
    OcspStatus,
    /// The version of HTTP.
    Proto,
    /// The name of the scenario.
    Scenario,
    /// The service of a gRPC call.
    Service,
    /// The response's status.
    Status,
    /// The subprotocol of a WebSocket.
    Subproto,
    /// The version of TLS.
    TlsVersion,
    /// The URL.
    Url,
    /// The number of the virtual user, which is metadata.
    Vu,
}

/// The system tags with their names, sorted by name.
const NAMES: [(SystemTag, &str); 18] = [
    (SystemTag::Check, "check"),
    (SystemTag::Error, "error"),
    (SystemTag::ErrorCode, "error_code"),
    (SystemTag::ExpectedResponse, "expected_response"),
    (SystemTag::Group, "group"),
    (SystemTag::Ip, "ip"),
    (SystemTag::Iter, "iter"),
    (SystemTag::Method, "method"),
    (SystemTag::Name, "name"),
    (SystemTag::OcspStatus, "ocsp_status"),
    (SystemTag::Proto, "proto"),
    (SystemTag::Scenario, "scenario"),
    (SystemTag::Service, "service"),
    (SystemTag::Status, "status"),
    (SystemTag::Subproto, "subproto"),
    (SystemTag::TlsVersion, "tls_version"),
    (SystemTag::Url, "url"),
    (SystemTag::Vu, "vu"),
];

/// The system tags that are on unless a script says otherwise.
pub const DEFAULT_SYSTEM_TAGS: [SystemTag; 14] = [
    SystemTag::Check,
    SystemTag::Error,
    SystemTag::ErrorCode,
    SystemTag::ExpectedResponse,
    SystemTag::Group,
    SystemTag::Method,
    SystemTag::Name,
    SystemTag::Proto,
    SystemTag::Scenario,
    SystemTag::Service,
    SystemTag::Status,
    SystemTag::Subproto,
    SystemTag::TlsVersion,
    SystemTag::Url,
];

impl SystemTag {
    /// Returns the tag's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES[self as usize].1
    }
}

/// A set of system tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SystemTags(u32);

impl Default for SystemTags {
    fn default() -> Self {
        Self::of(&DEFAULT_SYSTEM_TAGS)
    }
}

impl SystemTags {
    /// Returns the set of these tags.
    #[must_use]
    pub fn of(tags: &[SystemTag]) -> Self {
        Self(tags.iter().fold(0, |set, &tag| set | 1 << tag as u8))
    }

    /// Reads a set of names; an empty name is skipped.
    ///
    /// # Errors
    /// If there is no such system tag.
    pub fn parse<'n>(path: &str, names: impl IntoIterator<Item = &'n str>) -> Result<Self, OptionError> {
        let mut set = 0;
        for name in names.into_iter().map(str::trim).filter(|name| !name.is_empty()) {
            let found = NAMES.iter().find(|(_, known)| *known == name);
            let (tag, _) = found.ok_or_else(|| OptionError::new(path, format!("unknown system tag '{name}'")))?;
            set |= 1 << *tag as u8;
        }
        Ok(Self(set))
    }

    /// Returns whether a tag is on.
    #[must_use]
    pub fn has(self, tag: SystemTag) -> bool {
        self.0 & (1 << tag as u8) != 0
    }

    /// Returns the names of the tags that are on, sorted.
    #[must_use]
    pub fn names(self) -> Vec<&'static str> {
        NAMES.iter().filter(|(tag, _)| self.has(*tag)).map(|(_, name)| *name).collect()
    }
}
