//! The attributes of a server's certificate (RFC 5280), in the notation in which hurl shows them.

use crate::hurl::ast::CertificateAttribute;
use crate::value::Value;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use chrono::DateTime;
use std::net::{Ipv4Addr, Ipv6Addr};
use x509_parser::prelude::{FromDer, GeneralName, X509Certificate};
use x509_parser::time::ASN1Time;

/// The characters on a line of PEM (RFC 7468, section 2).
const PEM_LINE: usize = 64;

/// Returns an attribute of a certificate in DER; `None` if the certificate has no such attribute, or cannot be read.
pub fn attribute(der: &[u8], wanted: CertificateAttribute) -> Option<Value> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    Some(match wanted {
        CertificateAttribute::Subject => Value::Text(certificate.subject().to_string()),
        CertificateAttribute::Issuer => Value::Text(certificate.issuer().to_string()),
        CertificateAttribute::StartDate => date(certificate.validity().not_before)?,
        CertificateAttribute::ExpireDate => date(certificate.validity().not_after)?,
        CertificateAttribute::SerialNumber => Value::Text(serial(certificate.raw_serial())),
        CertificateAttribute::SubjectAltName => {
            let names = certificate.subject_alternative_name().ok()??;
            let names: Vec<_> = names.value.general_names.iter().filter_map(name).collect();
            Value::Text(names.join(", "))
        }
        CertificateAttribute::Value => Value::Text(pem(der)),
    })
}

fn date(time: ASN1Time) -> Option<Value> {
    DateTime::from_timestamp(time.timestamp(), 0).map(Value::Date)
}

/// Returns a serial number as pairs of digits, without the byte that only keeps its sign.
fn serial(bytes: &[u8]) -> String {
    let bytes = if bytes.len() > 1 { bytes.strip_prefix(&[0]).unwrap_or(bytes) } else { bytes };
    let pairs: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    pairs.join(":")
}

/// Returns a name as OpenSSL shows it.
fn name(name: &GeneralName<'_>) -> Option<String> {
    Some(match name {
        GeneralName::DNSName(name) => format!("DNS:{name}"),
        GeneralName::URI(name) => format!("URI:{name}"),
        GeneralName::RFC822Name(name) => format!("email:{name}"),
        GeneralName::IPAddress(bytes) => {
            let v4 = <[u8; 4]>::try_from(*bytes).map(|bytes| Ipv4Addr::from(bytes).to_string());
            let v6 = <[u8; 16]>::try_from(*bytes).map(|bytes| Ipv6Addr::from(bytes).to_string());
            format!("IP Address:{}", v4.or(v6).ok()?)
        }
        _ => return None,
    })
}

fn pem(der: &[u8]) -> String {
    let encoded = BASE64_STANDARD.encode(der);
    // The alphabet of base64 is ASCII, so that lines are cut between characters.
    let lines: Vec<_> = encoded.as_bytes().chunks(PEM_LINE).map(String::from_utf8_lossy).collect();
    format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
}
