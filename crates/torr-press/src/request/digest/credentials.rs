//! Names and passwords.

use std::fmt;

/// A name and a password.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The name, which is sent.
    pub user: String,
    /// The password, which is not.
    pub password: String,
}

impl Credentials {
    /// Reads `NAME:PASSWORD`; `None` without a colon.
    pub fn read(text: &str) -> Option<Self> {
        let (user, password) = text.split_once(':')?;
        Some(Self { user: user.to_owned(), password: password.to_owned() })
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("user", &self.user).finish_non_exhaustive()
    }
}
