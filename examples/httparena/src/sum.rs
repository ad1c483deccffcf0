//! `/baseline11` and `/baseline2`: the sum of the query's numbers and of the content.

use axum::http::StatusCode;
use axum::http::Uri;
use torr_serve::{Request, Response};

/// Handles `/baseline11` by GET and POST.
pub fn controller(request: &Request<'_>) -> Response {
    match sum(request.query(), request.body()) {
        Some(sum) => Response::text(sum.to_string()),
        None => Response::error(400, ADVICE),
    }
}

/// Handles `/baseline2` by GET, as a handler of axum: the port without TLS has to know the version of HTTP.
pub async fn handler(target: Uri) -> Result<String, (StatusCode, &'static str)> {
    sum(target.query(), b"").map(|sum| sum.to_string()).ok_or((StatusCode::BAD_REQUEST, ADVICE))
}

const ADVICE: &str = "give integers: ?a=13&b=42, and one as content of a POST\n";

/// Returns the sum, or `None` where a value is no integer or the sum has more than 64 bits.
fn sum(query: Option<&str>, content: &[u8]) -> Option<i64> {
    let values = query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    let values = values.map(|pair| pair.split_once('=').map(|(_, value)| value));
    let content = std::str::from_utf8(content).ok()?.trim();
    let content = Some(content).filter(|text| !text.is_empty()).map(Some);
    values.chain(content).try_fold(0_i64, |sum, value| sum.checked_add(value?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::sum;

    #[test]
    fn all_numbers_are_added() {
        assert_eq!(sum(Some("a=13&b=42"), b""), Some(55));
        assert_eq!(sum(Some("a=13&b=42"), b"20\n"), Some(75));
        assert_eq!(sum(Some("a=-1&b=0042"), b"0"), Some(41));
        assert_eq!(sum(None, b""), Some(0));
    }

    #[test]
    fn what_is_no_integer_has_no_sum() {
        assert_eq!(sum(Some("a=x"), b""), None);
        assert_eq!(sum(Some("a"), b""), None);
        assert_eq!(sum(Some("a=1"), b"\xff"), None);
        assert_eq!(sum(Some("a=9223372036854775807&b=1"), b""), None);
    }
}
