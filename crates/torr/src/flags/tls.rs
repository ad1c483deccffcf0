//! The flags of TLS: how `https://` URLs are spoken to.

use super::file_source::FileSource;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use torr_net::tls::{Resumption, Roots, TlsSettings, Versions};
use torr_press::Target;

/// How `https://` URLs are spoken to.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "TLS")]
pub struct TlsArgs {
    /// Trust the certificates in this PEM file instead of the system's
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub cacert: Option<PathBuf>,
    /// Do not check the server's certificate
    #[arg(short = 'k', long)]
    pub insecure: bool,
    /// A certificate to show, as a PEM file
    #[arg(long, value_name = "FILE")]
    pub cert: Option<PathBuf>,
    /// Its key, if that is in a file of its own
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
    /// The server's name for its certificate and SNI [default: the URL's host]
    #[arg(long, value_name = "NAME")]
    pub sni: Option<String>,
    /// Speak TLS 1.2 or later
    #[arg(long = "tlsv1.2")]
    pub tlsv1_2: bool,
    /// Speak TLS 1.3 or later
    #[arg(long = "tlsv1.3", conflicts_with = "tls_max")]
    pub tlsv1_3: bool,
    /// Speak no later version than this
    #[arg(long, value_name = "VERSION", value_parser = ["1.2", "1.3"])]
    pub tls_max: Option<String>,
    /// Whether later connections resume earlier ones' sessions: as browsers do; never, without a request for tickets; or as
    /// new visitors do, with a full handshake each
    #[arg(long, value_enum, default_value_t = TlsResumption::On, value_name = "HOW")]
    pub tls_resumption: TlsResumption,
    /// Where the file of `--cacert` comes from.
    #[arg(skip)]
    pub files: FileSource,
}

/// The use of TLS sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TlsResumption {
    On,
    Off,
    Full,
}

impl TlsArgs {
    fn given_roots(&self, file: &Path) -> Roots {
        match (&self.files, self.files.read_for_fleet(&file.to_string_lossy())) {
            (_, Some(content)) => Roots::Pem { path: file.into(), content },
            // Nothing of an agent's machine is read.
            (FileSource::Sent(_), None) => Roots::Pem { path: file.into(), content: [].into() },
            (FileSource::Here | FileSource::Kept(_), None) => Roots::File(file.into()),
        }
    }

    /// Returns the settings for the host of a target.
    pub fn settings(&self, target: &Target) -> TlsSettings {
        TlsSettings {
            roots: match &self.cacert {
                Some(file) => self.given_roots(file),
                None if self.insecure => Roots::AcceptAny,
                None => Roots::System,
            },
            identity: self.cert.clone().map(|cert| (cert.clone(), self.key.clone().unwrap_or(cert))),
            versions: match (self.tlsv1_3, self.tls_max.as_deref()) {
                (true, _) => Versions::Tls13,
                (false, Some("1.2")) => Versions::Tls12,
                _ => Versions::Both,
            },
            alpn: vec!["http/1.1".into()],
            resumption: match self.tls_resumption {
                TlsResumption::On => Resumption::On,
                TlsResumption::Off => Resumption::Off,
                TlsResumption::Full => Resumption::Full,
            },
            ..TlsSettings::new(self.sni.as_deref().unwrap_or(&target.host))
        }
    }
}
