//! Header fields by their canonical names.

/// Returns whether a text is a token (RFC 9110), as methods and names of fields are.
#[must_use]
pub fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Returns a name in the form in which scripts see it: a capital at the beginning and after each hyphen. A name that is no token stays
/// as it is.
#[must_use]
pub fn canonical(name: &str) -> String {
    if !is_token(name) {
        return name.to_owned();
    }
    let mut capital = true;
    let change = |letter: char| {
        let changed = if capital { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() };
        capital = letter == '-';
        changed
    };
    name.chars().map(change).collect()
}

/// Field lines by their canonical names, sorted as k6 sends them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// Returns the names and values in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the value of a canonical name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// Sets the value of a canonical name.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let name = name.into();
        match self.0.binary_search_by(|(other, _)| other.cmp(&name)) {
            Ok(at) => self.0[at].1 = value.into(),
            Err(at) => self.0.insert(at, (name, value.into())),
        }
    }

    /// Sets the value of a canonical name that has none.
    pub fn set_if_missing(&mut self, name: &str, value: impl Into<String>) {
        if self.get(name).is_none() {
            self.set(name, value);
        }
    }

    /// Removes a canonical name.
    pub fn remove(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|(other, _)| other == name)?;
        Some(self.0.remove(at).1)
    }

    /// Removes the names that are not to be kept.
    pub fn retain(&mut self, is_kept: impl Fn(&str) -> bool) {
        self.0.retain(|(name, _)| is_kept(name));
    }
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn names_have_capitals_after_hyphens() {
        for (name, expected) in
            [("content-type", "Content-Type"), ("X-API-KEY", "X-Api-Key"), ("ETag", "Etag"), ("a b", "a b")]
        {
            assert_eq!(canonical(name), expected);
        }
    }
}
