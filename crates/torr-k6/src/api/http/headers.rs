//! Header fields by their canonical names.

/// Returns a name in the form in which scripts see it: a capital at the beginning and after each hyphen. A name that is no token stays
/// as it is.
#[must_use]
pub fn canonical(name: &str) -> String {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if !name.bytes().all(is_token) {
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

/// Field lines in an order of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields(pub Vec<(String, String)>);

impl Fields {
    /// Returns the value of a canonical name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// Sets the value of a canonical name.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let name = name.into();
        match self.0.iter_mut().find(|(other, _)| *other == name) {
            Some((_, old)) => *old = value.into(),
            None => self.0.push((name, value.into())),
        }
    }

    /// Sets the value of a canonical name that has none.
    pub fn set_if_missing(&mut self, name: &str, value: impl Into<String>) {
        if self.get(name).is_none() {
            self.0.push((name.to_owned(), value.into()));
        }
    }

    /// Removes a canonical name.
    pub fn remove(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|(other, _)| other == name)?;
        Some(self.0.remove(at).1)
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
