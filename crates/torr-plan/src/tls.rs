//! From the settings of TLS to how `https://` URLs are spoken to.

use std::path::Path;
use torr_load::{FileSource, TlsPart, TlsResumption};
use torr_net::tls::{Identity, Resumption, Roots, TlsSettings, Versions};
use torr_press::Target;

/// Returns the settings for the host of a target.
pub fn settings(part: &TlsPart, target: &Target) -> TlsSettings {
    TlsSettings {
        roots: match &part.cacert {
            Some(file) => given_roots(&part.files, file),
            None if part.insecure => Roots::AcceptAny,
            None => Roots::System,
        },
        identity: part.cert.clone().map(|cert| Identity::Files(cert.clone(), part.key.clone().unwrap_or(cert))),
        versions: match (part.tlsv1_3, part.tls_max.as_deref().copied()) {
            (true, _) => Versions::Tls13,
            (false, Some("1.2")) => Versions::Tls12,
            _ => Versions::Both,
        },
        alpn: vec!["http/1.1".into()],
        resumption: match part.resumption() {
            TlsResumption::On => Resumption::On,
            TlsResumption::Off => Resumption::Off,
            TlsResumption::Full => Resumption::Full,
        },
        early_data: part.tls_earlydata,
        ..TlsSettings::new(part.sni.as_deref().unwrap_or(&target.host))
    }
}

fn given_roots(files: &FileSource, file: &Path) -> Roots {
    match (files, files.read_for_fleet(&file.to_string_lossy())) {
        (_, Some(content)) => Roots::Pem { path: file.into(), content },
        // Nothing of an agent's machine is read.
        (FileSource::Sent(_), None) => Roots::Pem { path: file.into(), content: [].into() },
        (FileSource::Here | FileSource::Kept(_), None) => Roots::File(file.into()),
    }
}
