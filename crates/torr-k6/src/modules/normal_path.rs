//! Paths without `.` and `..`.

use std::path::{Component, Path, PathBuf};

/// Returns the path without `.` and `..`, so that each file has one name.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}
