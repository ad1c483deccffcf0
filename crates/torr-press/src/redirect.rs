//! The target of a redirect, and the request that is sent there.

use crate::target::Target;

/// The path and query that `location` leads to from `path`, if it stays with the same scheme, host and port. By RFC 3986,
/// section 5.2.
pub(crate) fn path(location: &str, target: &Target, path: &str) -> Option<String> {
    let location = location.split('#').next().unwrap_or_default();
    if !location.bytes().all(|byte| byte.is_ascii_graphic()) {
        return None;
    }
    if location.contains("://") || location.starts_with("//") {
        let whole =
            if location.starts_with("//") { format!("{}:{location}", target.scheme) } else { location.to_owned() };
        let other = Target::parse(&whole).ok().filter(|other| other.has_origin_of(target))?;
        return Some(clean(&other.path));
    }
    let is_other_scheme = location.split(['/', '?']).next().is_some_and(|first| first.contains(':'));
    if is_other_scheme {
        return None;
    }
    let (before_query, _) = path.split_once('?').unwrap_or((path, ""));
    Some(match location.as_bytes().first() {
        None => path.to_owned(),
        Some(b'/') => clean(location),
        Some(b'?') => format!("{before_query}{location}"),
        Some(_) => {
            let folder = before_query.rsplit_once('/').map_or("", |(folder, _)| folder);
            clean(&format!("{folder}/{location}"))
        }
    })
}

/// Without `.` and `..` (RFC 3986, section 5.2.4).
fn clean(path: &str) -> String {
    let (path, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    let mut parts: Vec<&str> = Vec::new();
    let mut ends_in_folder = false;
    for part in path.split('/').skip(1) {
        ends_in_folder = matches!(part, "." | "..");
        match part {
            "." => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    if ends_in_folder {
        parts.push("");
    }
    format!("/{}{query}", parts.join("/"))
}

/// The target of a request in HTTP/1.1.
pub(crate) fn target_of(request: &[u8]) -> Option<&str> {
    let line = request.split(|&byte| byte == b'\r').next()?;
    std::str::from_utf8(line).ok()?.split(' ').nth(1)
}

/// The request that follows a redirect of this status: to another path, and where the status says so as a GET without a
/// body (RFC 9110, section 15.4).
pub(crate) fn follow(request: &[u8], status: u16, to: &str) -> Option<Vec<u8>> {
    let head = request.windows(4).position(|window| window == b"\r\n\r\n")?;
    let mut lines = std::str::from_utf8(&request[..head]).ok()?.split("\r\n");
    let method = lines.next()?.split(' ').next()?;
    let becomes_get = match status {
        303 => method != "HEAD",
        301 | 302 => method == "POST",
        _ => false,
    };
    let method = if becomes_get { "GET" } else { method };
    let is_of_body = |line: &&str| {
        let name = line.split(':').next().unwrap_or_default();
        ["content-length", "content-type"].iter().any(|of_body| name.eq_ignore_ascii_case(of_body))
    };
    let mut bytes = format!("{method} {to} HTTP/1.1\r\n").into_bytes();
    for line in lines.filter(|line| !(becomes_get && is_of_body(line))) {
        bytes.extend_from_slice(line.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    if !becomes_get {
        bytes.extend_from_slice(&request[head + 4..]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_lead_where_browsers_would_go() {
        let target = Target::parse("http://h.test:81/").unwrap();
        for (location, leads) in [
            ("/x", Some("/x")),
            ("/x?y#z", Some("/x?y")),
            ("x", Some("/a/b/x")),
            ("../x", Some("/a/x")),
            ("..", Some("/a/")),
            ("./", Some("/a/b/")),
            ("?q", Some("/a/b/c?q")),
            ("", Some("/a/b/c?d")),
            ("http://H.TEST:81/y", Some("/y")),
            ("//h.test:81/y/../z", Some("/z")),
            ("http://h.test/y", None),
            ("https://h.test:81/y", None),
            ("mailto:x", None),
            ("/a b", None),
            ("http://h.test:81/a b", None),
        ] {
            assert_eq!(path(location, &target, "/a/b/c?d").as_deref(), leads, "{location}");
        }
    }

    #[test]
    fn requests_keep_what_the_status_lets_them_keep() {
        let post = b"POST /a HTTP/1.1\r\nHost: h\r\nContent-Type: x\r\nContent-Length: 2\r\n\r\nhi";
        let get = "GET /b HTTP/1.1\r\nHost: h\r\n\r\n";
        for status in [301, 302, 303] {
            assert_eq!(String::from_utf8(follow(post, status, "/b").unwrap()).unwrap(), get);
        }
        for status in [307, 308] {
            let again = String::from_utf8(follow(post, status, "/b").unwrap()).unwrap();
            assert_eq!(again, String::from_utf8_lossy(post).replace("/a", "/b"));
        }
        assert_eq!(follow(b"HEAD /a HTTP/1.1\r\n\r\n", 303, "/b").unwrap(), b"HEAD /b HTTP/1.1\r\n\r\n");
        assert_eq!(target_of(post), Some("/a"));
    }
}
