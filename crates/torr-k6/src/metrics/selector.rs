//! Selectors of sub-metrics: the tags that samples must have.

/// The tags that the samples of a sub-metric must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    /// The selector as it was written, without braces.
    pub text: String,
    /// The names and values, all of which must be equal.
    pub tags: Vec<(String, String)>,
}

impl Selector {
    /// Reads a selector such as `status:200,group:::login`.
    ///
    /// # Errors
    /// If there is no tag in it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let trim = |part: &str| part.trim_matches(|c: char| c.is_whitespace() || c == '"' || c == '\'').to_owned();
        let part = |part: &str| match part.split_once(':') {
            Some((name, value)) => (trim(name), trim(value)),
            None => (trim(part), String::new()),
        };
        let tags: Vec<_> = text.split(',').map(part).filter(|(name, _)| !name.is_empty()).collect();
        if tags.is_empty() {
            return Err("expected tags such as '{status:200}' in the braces".to_owned());
        }
        Ok(Self { text: text.trim().to_owned(), tags })
    }

    /// Returns whether tags, sorted by name, have all that the selector demands.
    #[must_use]
    pub fn matches(&self, tags: &[(&str, &str)]) -> bool {
        self.tags.iter().all(|(name, value)| {
            let found = tags.binary_search_by(|(known, _)| (*known).cmp(name.as_str()));
            found.is_ok_and(|at| tags[at].1 == value)
        })
    }
}

/// Splits the name of a metric or sub-metric into the metric's name and the selector.
///
/// # Errors
/// If the braces are not closed or have no tags in them.
pub fn split_name(name: &str) -> Result<(&str, Option<Selector>), String> {
    let Some((metric, rest)) = name.split_once('{') else { return Ok((name.trim(), None)) };
    let inner = rest.trim_end().strip_suffix('}').ok_or_else(|| format!("expected '}}' at the end of '{name}'"))?;
    Ok((metric.trim(), Some(Selector::parse(inner)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_split_at_commas_and_the_first_colon() {
        let parsed = |name| split_name(name).map(|(metric, selector)| (metric, selector.map(|found| found.tags)));
        let tags = |tags: &[(&str, &str)]| tags.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        assert_eq!(parsed("http_reqs"), Ok(("http_reqs", None)));
        assert_eq!(parsed("a{group:::login}"), Ok(("a", Some(tags(&[("group", "::login")])))));
        assert_eq!(
            parsed("a{ name : \"x y\" , status:'200',u:http://h/p?{}}"),
            Ok(("a", Some(tags(&[("name", "x y"), ("status", "200"), ("u", "http://h/p?{}")]))))
        );
        assert_eq!(parsed("a{x}"), Ok(("a", Some(tags(&[("x", "")])))));
        assert!(parsed("a{x:1").is_err());
        assert!(parsed("a{}").is_err());
    }

    #[test]
    fn all_tags_must_be_equal() {
        let selector = Selector::parse("status:200,name:a").expect("the selector has tags");
        assert!(selector.matches(&[("group", ""), ("name", "a"), ("status", "200")]));
        assert!(!selector.matches(&[("name", "a"), ("status", "201")]));
        assert!(!selector.matches(&[("name", "a")]));
    }
}
