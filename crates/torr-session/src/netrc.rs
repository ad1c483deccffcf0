//! Files of credentials by machine: `.netrc`, as curl reads it.

use std::fmt;

/// The longest file, in bytes.
const LONGEST: usize = 256 * 1024;

/// The credentials of a file.
#[derive(Clone, PartialEq, Eq)]
pub struct Netrc {
    /// Whether they count before those of a URL.
    pub is_required: bool,
    machines: Vec<Machine>,
}

#[derive(Clone, Default, PartialEq, Eq)]
struct Machine {
    /// `None` is any machine.
    name: Option<String>,
    login: Option<String>,
    password: Option<String>,
}

impl fmt::Debug for Netrc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Netrc").field("is_required", &self.is_required).finish_non_exhaustive()
    }
}

impl Netrc {
    /// Reads a file.
    ///
    /// # Errors
    /// In one line, if it is too long, no text, or a word is followed by nothing. No secret is in it.
    pub fn read(content: &[u8], is_required: bool) -> Result<Self, String> {
        if content.len() > LONGEST {
            return Err(format!("the file of credentials is longer than {} KiB", LONGEST / 1024));
        }
        let text = std::str::from_utf8(content).map_err(|_| "the file of credentials is not UTF-8")?;
        let (mut machines, mut lines) = (Vec::<Machine>::new(), text.lines());
        // What a word is followed by may stand in the next line.
        let mut open: Option<String> = None;
        while let Some(line) = lines.next() {
            for word in words(line)? {
                let Some(before) = open.take() else {
                    match word.as_str() {
                        "default" => machines.push(Machine::default()),
                        "machine" | "login" | "password" | "account" | "macdef" => open = Some(word),
                        // curl skips words that it does not know.
                        _ => {}
                    }
                    continue;
                };
                match (before.as_str(), machines.last_mut()) {
                    ("machine", _) => machines.push(Machine { name: Some(word), ..Machine::default() }),
                    ("login", Some(machine)) => machine.login = Some(word),
                    ("password", Some(machine)) => machine.password = Some(word),
                    // A macro goes on up to an empty line.
                    ("macdef", _) => drop(lines.by_ref().find(|line| line.trim().is_empty())),
                    _ => {}
                }
            }
        }
        match open {
            Some(word) => Err(format!("the file of credentials ends behind '{word}'")),
            None => Ok(Self { is_required, machines }),
        }
    }

    /// Returns `user:password` of a machine, for this user if one is given.
    pub fn credentials(&self, host: &str, user: &str) -> Option<String> {
        let is_of = |machine: &&Machine| {
            let is_host = machine.name.as_ref().is_none_or(|name| name.eq_ignore_ascii_case(host));
            is_host && (user.is_empty() || machine.login.as_deref() == Some(user))
        };
        let found = self.machines.iter().find(is_of)?;
        let (login, password) = (found.login.as_deref(), found.password.as_deref());
        Some(format!("{}:{}", login.unwrap_or_default(), password.unwrap_or_default()))
    }
}

/// Returns the words of a line up to a comment; one in quotes may have spaces.
fn words(line: &str) -> Result<Vec<String>, String> {
    let (mut found, mut rest) = (Vec::new(), line.trim_start());
    while !rest.is_empty() && !rest.starts_with('#') {
        let (word, after) = match rest.strip_prefix('"') {
            Some(quoted) => unquoted(quoted).ok_or("a quote in the file of credentials is not closed")?,
            None => {
                let (word, after) = rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()));
                (word.to_owned(), after)
            }
        };
        found.push(word);
        rest = after.trim_start();
    }
    Ok(found)
}

/// Returns a text up to its closing quote, and what is behind it.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let (mut word, mut characters) = (String::new(), text.char_indices());
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((word, &text[at + 1..])),
            '\\' => word.push(match characters.next()?.1 {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                other => other,
            }),
            other => word.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# mine\nmachine a.example login ann password s3cret\nmachine\n\tb.example\n  login ben # not me\n\
                        password \"a \\\"b\\\\\"\nmacdef init\nmachine x login y\n\nmachine a.example login eve password other\n\
                        machine nobody account none\ndefault login guest password me@";

    #[test]
    fn credentials_are_those_of_the_first_machine_that_fits() {
        let netrc = Netrc::read(FILE.as_bytes(), true).expect("it is a file of credentials");
        for (host, user, expected) in [
            ("a.example", "", "ann:s3cret"),
            ("A.EXAMPLE", "eve", "eve:other"),
            ("b.example", "", "ben:a \"b\\"),
            ("x", "", "guest:me@"),
            ("nobody", "", ":"),
        ] {
            assert_eq!(netrc.credentials(host, user).as_deref(), Some(expected), "{host} {user}");
        }
        assert_eq!(netrc.credentials("a.example", "zoe"), None);
        assert!(!format!("{netrc:?}").contains("s3cret"));
    }

    #[test]
    fn what_is_no_file_of_credentials_is_refused_without_its_secrets() {
        for wrong in ["machine a login", "machine a password \"s3cret", "machine a password \"s3cret\\"] {
            let error = Netrc::read(wrong.as_bytes(), true).expect_err(wrong);
            assert!(!error.contains("s3cret"), "{error}");
        }
        assert!(Netrc::read(b"\xff", true).is_err());
        assert!(Netrc::read(&vec![b' '; LONGEST + 1], true).is_err());
    }
}
