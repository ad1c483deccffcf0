//! The shape of a path: its segments, of which some stand for any segment, since a router does not tell its routes.

use std::fmt;

/// The least length of a segment that has digits and counts as an identifier.
const IDENTIFIER: usize = 16;

/// The segments of a path; `None` matches any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PathShape(Vec<Option<String>>);

impl PathShape {
    /// Returns the shape of a path in which numbers and identifiers stand for any segment.
    pub fn of(path: &str) -> Self {
        Self(segments(path).map(|segment| (!is_identifier(segment)).then(|| segment.to_owned())).collect())
    }

    pub fn matches(&self, path: &str) -> bool {
        let mut segments = segments(path);
        let is_like = |known: &Option<String>, segment: &str| known.as_deref().is_none_or(|known| known == segment);
        self.0.iter().all(|known| segments.next().is_some_and(|segment| is_like(known, segment)))
            && segments.next().is_none()
    }

    /// Returns the shape that matches both, if they differ in one segment that is not the first.
    pub fn joined(&self, other: &Self) -> Option<Self> {
        if self.0.len() != other.0.len() {
            return None;
        }
        let mut differing = (0..self.0.len()).filter(|at| self.0[*at] != other.0[*at]);
        let at = differing.next().filter(|at| *at > 0)?;
        if differing.next().is_some() {
            return None;
        }
        let mut joined = self.clone();
        joined.0[at] = None;
        Some(joined)
    }
}

impl fmt::Display for PathShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|segment| write!(f, "/{}", segment.as_deref().unwrap_or("*")))
    }
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.strip_prefix('/').unwrap_or(path).split('/')
}

/// Whether a segment is a number, or long with digits, such as a UUID.
fn is_identifier(segment: &str) -> bool {
    let has_digit = segment.bytes().any(|byte| byte.is_ascii_digit());
    has_digit && (segment.len() >= IDENTIFIER || segment.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_identifiers_stand_for_any_segment() {
        let uuid = "/users/0b1c8a4e-7c53-4c58-9d8e-2f6b4d1c9a10/report";
        for (path, shape) in
            [("/", "/"), ("/api/v1/users/7", "/api/v1/users/*"), (uuid, "/users/*/report"), ("/a/", "/a/")]
        {
            assert_eq!(PathShape::of(path).to_string(), shape);
            assert!(PathShape::of(path).matches(path), "{path}");
        }
        let shape = PathShape::of("/users/7/report");
        assert!(shape.matches("/users/ann/report"));
        for other in ["/users/7", "/users/7/report/", "/users/7/reports", "/user/7/report", "/"] {
            assert!(!shape.matches(other), "{other}");
        }
    }

    #[test]
    fn shapes_that_differ_in_one_later_segment_are_joined() {
        let joined = |one, other| PathShape::of(one).joined(&PathShape::of(other)).map(|shape| shape.to_string());
        assert_eq!(joined("/posts/hello/render", "/posts/bye/render").as_deref(), Some("/posts/*/render"));
        for (one, other) in [("/a", "/b"), ("/a/b", "/a/b"), ("/a/b/c", "/a/c/d"), ("/a/b", "/a/b/c")] {
            assert_eq!(joined(one, other), None, "{one} {other}");
        }
    }
}
