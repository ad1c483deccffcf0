//! The files of a script that another machine has read: its modules, and what it opens.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Contents by name: paths from the folder of the script on, and URLs.
pub type SentFiles = BTreeMap<String, Arc<[u8]>>;
