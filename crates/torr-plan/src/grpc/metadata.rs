//! The fields of a call: those of gRPC, and the user's own, which are metadata (grpc.io, "gRPC over HTTP2", "Requests").

use crate::error::PlanError;
use std::time::Duration;
use torr_grpc::{Coding, timeout_field};

/// Returns the fields of a call, with a deadline or without one, whose messages have a coding.
///
/// # Errors
/// For a user's field that is gRPC's own, and for binary metadata that is not base64.
pub(super) fn fields(own: &[String], deadline: Option<Duration>, coding: Coding) -> Result<Vec<String>, PlanError> {
    own.iter().try_for_each(|line| check(line))?;
    let mut fields = vec!["Accept:".to_owned(), "te: trailers".to_owned()];
    fields.extend(deadline.map(|deadline| format!("grpc-timeout: {}", timeout_field(deadline))));
    if coding == Coding::Gzip {
        fields.extend(["grpc-encoding: gzip", "grpc-accept-encoding: gzip"].map(str::to_owned));
    }
    fields.extend(own.iter().cloned());
    Ok(fields)
}

fn check(line: &str) -> Result<(), PlanError> {
    let Some((name, value)) = line.split_once(':') else { return Ok(()) };
    let (name, value) = (name.to_ascii_lowercase(), value.trim());
    let instead = match name.as_str() {
        "grpc-timeout" => "use --deadline",
        "grpc-encoding" | "grpc-accept-encoding" => "use --grpc-encoding",
        "te" | "content-type" => "drop it",
        name if name.starts_with("grpc-") => "drop it",
        name if name.ends_with("-bin") && !is_base64(value) && !value.contains("{{") => {
            return Err(PlanError::Usage(format!(
                "the value of metadata '{name}' must be base64: its name ends in -bin"
            )));
        }
        _ => return Ok(()),
    };
    Err(PlanError::Usage(format!("header '{name}' belongs to gRPC itself: {instead}")))
}

/// Whether a text is base64, with or without padding.
fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    digits.bytes().all(is_digit) && digits.len() % 4 != 1 && (padding == 0 || padding == (4 - digits.len() % 4) % 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_the_users_but_for_what_is_grpcs() {
        let of = |line: &str| fields(&[line.to_owned()], Some(Duration::from_secs(1)), Coding::Gzip);
        for line in ["x-user: 7", "trace-bin: AAEC/w==", "trace-bin: AAEC/w", "trace-bin: {{id}}", "x-bin:", "no colon"]
        {
            let fields = of(line).unwrap_or_else(|error| panic!("{line}: {error}"));
            assert_eq!(
                fields,
                [
                    "Accept:",
                    "te: trailers",
                    "grpc-timeout: 1000000u",
                    "grpc-encoding: gzip",
                    "grpc-accept-encoding: gzip",
                    line
                ]
            );
        }
        for (line, why) in [
            ("grpc-timeout: 1S", "use --deadline"),
            ("Grpc-Encoding: gzip", "use --grpc-encoding"),
            ("grpc-status: 0", "drop it"),
            ("TE: trailers", "drop it"),
            ("Content-Type: application/json", "drop it"),
            ("trace-bin: AAECA", "must be base64"),
            ("trace-bin: AA=", "must be base64"),
            ("trace-bin: a b", "must be base64"),
        ] {
            assert!(of(line).is_err_and(|error| error.to_string().contains(why)), "{line}");
        }
    }
}
