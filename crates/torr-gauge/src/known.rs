//! Reading of data that a newer version may have written: what this version does not know is left out.

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny};

#[derive(Deserialize)]
#[serde(untagged)]
enum Read<T> {
    Known(Box<T>),
    Unknown(IgnoredAny),
}

impl<T> Read<T> {
    fn known(self) -> Option<T> {
        match self {
            Self::Known(value) => Some(*value),
            Self::Unknown(_) => None,
        }
    }
}

/// Reads a value, `None` if this version does not know it.
pub fn one<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Read::deserialize(deserializer).map(Read::known)
}

/// Reads those values of a list that this version knows.
pub fn all<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let all = Vec::<Read<T>>::deserialize(deserializer)?;
    Ok(all.into_iter().filter_map(Read::known).collect())
}
