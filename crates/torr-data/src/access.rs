//! The three access methods to a database.

use std::fmt;
use std::str::FromStr;

/// The library that builds a query and reads its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// The database's driver with prepared statements.
    Raw,
    /// A query builder (`sea-query`) over the same driver. Each query's SQL is built anew.
    Builder,
    /// The model of an ORM (Diesel).
    Model,
}

impl Access {
    /// All access methods, the closest to the database first.
    pub const ALL: [Self; 3] = [Self::Raw, Self::Builder, Self::Model];

    /// Returns the name: `raw`, `builder` or `model`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Builder => "builder",
            Self::Model => "model",
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Access {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let unknown = || format!("unknown access method '{name}': use raw, builder or model");
        Self::ALL.into_iter().find(|access| access.name() == name).ok_or_else(unknown)
    }
}
