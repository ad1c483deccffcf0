//! How `https://` URLs are spoken to.

use crate::file_source::FileSource;
use crate::parsed::Parsed;
use crate::values::TlsResumption;
use std::path::PathBuf;

/// How `https://` URLs are spoken to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TlsPart {
    pub cacert: Option<PathBuf>,
    pub insecure: bool,
    pub cert: Option<PathBuf>,
    pub key: Option<PathBuf>,
    pub sni: Option<String>,
    pub tlsv1_2: bool,
    pub tlsv1_3: bool,
    pub tls_max: Option<Parsed<&'static str>>,
    pub tls_resumption: Option<Parsed<TlsResumption>>,
    pub tls_earlydata: bool,
    /// Where the file of `cacert` comes from, which is no setting.
    pub files: FileSource,
}

impl TlsPart {
    /// Returns the use of TLS sessions.
    pub fn resumption(&self) -> TlsResumption {
        self.tls_resumption.as_deref().copied().unwrap_or(TlsResumption::On)
    }
}
