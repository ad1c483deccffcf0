//! TLS on the command line.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// How `https://` URLs are spoken to.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "TLS")]
pub struct TlsArgs {
    /// Trust whom the certificates in this PEM file are of, instead of whom the system trusts
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
    /// Whether later connections resume earlier ones' sessions: as browsers do; never, and servers are told so; or as
    /// visitors do who are new, with a full handshake each
    #[arg(long, value_enum, default_value_t = TlsResumption::On, value_name = "HOW")]
    pub tls_resumption: TlsResumption,
}

/// What becomes of TLS sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TlsResumption {
    On,
    Off,
    Full,
}
