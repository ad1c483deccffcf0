//! The schemas of gRPC that a script has loaded: compiled once for all virtual users.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use torr_grpc::SchemaMethod;

/// The files of a schema: where they are found, and their names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SchemaFiles {
    /// The folder of the script that loads them.
    pub base: String,
    /// The folders in which they are found; none for a descriptor set.
    pub folders: Vec<String>,
    /// The names.
    pub names: Vec<String>,
}

/// The methods of a schema, or why there are none.
type Loaded = Result<Arc<[SchemaMethod]>, String>;

/// The schemas that a script has loaded.
#[derive(Debug, Default)]
pub struct Schemas(Mutex<BTreeMap<SchemaFiles, Loaded>>);

impl Schemas {
    /// Returns the methods of a schema, which is loaded at its first use.
    ///
    /// # Errors
    /// Those of `load`.
    pub fn get(&self, files: &SchemaFiles, load: impl FnOnce() -> Result<Vec<SchemaMethod>, String>) -> Loaded {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = known.get(files) {
            return loaded.clone();
        }
        let loaded = load().map(Into::into);
        known.insert(files.clone(), loaded.clone());
        loaded
    }
}
