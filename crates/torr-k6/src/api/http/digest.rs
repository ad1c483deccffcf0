//! Digest authentication (RFC 7616).

use crate::api::crypto::{Algorithm, hash, hex};

/// Returns the value of `Authorization` for a challenge; `None` if its scheme is not supported.
#[must_use]
pub fn authorization(challenge: &str, method: &str, path: &str, user: &str, password: &str) -> Option<String> {
    let nonce: String = std::iter::repeat_with(|| fastrand::char('a'..='f')).take(16).collect();
    authorization_with(challenge, method, path, (user, password), &nonce)
}

fn authorization_with(
    challenge: &str,
    method: &str,
    path: &str,
    who: (&str, &str),
    client_nonce: &str,
) -> Option<String> {
    let rest = challenge.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("digest ")).map(|_| &challenge[7..])?;
    let parameters = parameters(rest);
    let get = |name: &str| {
        parameters.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    };
    let (realm, nonce) = (get("realm").unwrap_or_default(), get("nonce")?);
    let algorithm = get("algorithm").unwrap_or("MD5");
    let hashed_by = match algorithm.trim_end_matches("-sess").to_ascii_uppercase().as_str() {
        "MD5" => Algorithm::Md5,
        "SHA-256" => Algorithm::Sha256,
        _ => return None,
    };
    let hash = |text: String| hex(&hash(hashed_by, text.as_bytes()));
    let (user, password) = who;
    let mut secret = hash(format!("{user}:{realm}:{password}"));
    if algorithm.ends_with("-sess") {
        secret = hash(format!("{secret}:{nonce}:{client_nonce}"));
    }
    let request = hash(format!("{method}:{path}"));
    let with_quality = get("qop").is_some_and(|qop| qop.split(',').any(|it| it.trim() == "auth"));
    let response = match with_quality {
        true => hash(format!("{secret}:{nonce}:00000001:{client_nonce}:auth:{request}")),
        false => hash(format!("{secret}:{nonce}:{request}")),
    };
    let mut text = format!(
        "Digest username=\"{user}\", realm=\"{realm}\", nonce=\"{nonce}\", uri=\"{path}\", response=\"{response}\", algorithm={algorithm}"
    );
    if let Some(opaque) = get("opaque") {
        text.push_str(&format!(", opaque=\"{opaque}\""));
    }
    if with_quality {
        text.push_str(&format!(", qop=auth, nc=00000001, cnonce=\"{client_nonce}\""));
    }
    Some(text)
}

/// Returns the parameters of a challenge: names and values without quotes.
fn parameters(text: &str) -> Vec<(String, String)> {
    let mut parameters = Vec::new();
    let mut rest = text.trim_start();
    while let Some((name, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let (value, behind) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => {
                let end = after.find(',').unwrap_or(after.len());
                (after[..end].trim_end(), &after[end..])
            }
        };
        parameters.push((name.trim().to_owned(), value.to_owned()));
        rest = behind.trim_start().trim_start_matches(',').trim_start();
    }
    parameters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_standard() {
        // RFC 7616, section 3.9.1, with MD5.
        let challenge = "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm=MD5, \
                         nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\"";
        let nonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
        let value = authorization_with(challenge, "GET", "/dir/index.html", ("Mufasa", "Circle of Life"), nonce);
        let value = value.expect("the scheme is supported");
        assert!(value.contains("response=\"8ca523f5e9506fed4657c9700eebdbec\""), "{value}");
        assert_eq!(authorization_with("Basic realm=\"x\"", "GET", "/", ("u", "p"), nonce), None);
    }
}
