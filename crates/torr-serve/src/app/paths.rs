//! The routes of paths.

use matchit::{InsertError, Params, Router};

/// Paths and the numbers of their routes. Paths without parameters are first looked up by their length: an application mostly
/// has few of them, and a tree would cost more.
#[derive(Default)]
pub(crate) struct Paths {
    /// Paths without parameters, indexed by length.
    plain: Vec<Vec<(Box<[u8]>, usize)>>,
    /// All paths.
    tree: Router<usize>,
    /// Whether any path has a parameter.
    has_patterns: bool,
}

impl Paths {
    /// Adds the path of a route.
    ///
    /// # Errors
    /// If the path is malformed or conflicts with another.
    pub fn insert(&mut self, path: &str, route: usize) -> Result<(), InsertError> {
        self.tree.insert(path, route)?;
        if path.contains(['{', '}']) {
            self.has_patterns = true;
            return Ok(());
        }
        if self.plain.len() <= path.len() {
            self.plain.resize_with(path.len() + 1, Vec::new);
        }
        self.plain[path.len()].push((path.as_bytes().into(), route));
        Ok(())
    }

    /// Returns the route of a path and the values of its parameters.
    #[inline]
    pub fn at<'p, 'a>(&'p self, path: &'a str) -> Option<(usize, Params<'p, 'a>)> {
        let known = self.plain.get(path.len()).map_or(&[][..], |paths| paths);
        match known.iter().find(|(known, _)| same(known, path.as_bytes())) {
            Some((_, route)) => Some((*route, Params::new())),
            None if self.has_patterns => self.tree.at(path).ok().map(|found| (*found.value, found.params)),
            None => None,
        }
    }
}

/// Returns whether two texts of equal length are equal. For few bytes this costs less than a call of `memcmp`.
#[inline]
fn same(one: &[u8], other: &[u8]) -> bool {
    one.iter().zip(other).all(|(a, b)| a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_paths_go_before_patterns_and_are_found_as_in_the_tree() {
        let paths = ["/", "/a", "/b", "/users/me", "/users/{id}", "/files/{*rest}", "/{{x}}"];
        let mut known = Paths::default();
        for (number, path) in paths.iter().enumerate() {
            known.insert(path, number).expect("they do not contradict each other");
        }
        let found =
            |path| known.at(path).map(|(route, params)| (paths[route], params.iter().next().map(|param| param.1)));
        assert_eq!(found("/"), Some(("/", None)));
        assert_eq!(found("/b"), Some(("/b", None)));
        assert_eq!(found("/users/me"), Some(("/users/me", None)));
        assert_eq!(found("/users/you"), Some(("/users/{id}", Some("you"))));
        assert_eq!(found("/files/a/b"), Some(("/files/{*rest}", Some("a/b"))));
        assert_eq!(found("/{x}"), Some(("/{{x}}", None)), "a brace by itself");
        for unknown in ["", "/c", "/users/", "/users", "/A", "a", "*"] {
            assert_eq!(found(unknown), None, "{unknown}");
        }
        assert!(known.insert("/a", 9).is_err());
    }

    #[test]
    fn without_routes_nothing_is_found() {
        assert!(Paths::default().at("/").is_none());
    }
}
