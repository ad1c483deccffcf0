//! The processes of a server, as /proc lists them.

use std::fs;
use std::path::{Path, PathBuf};

/// The numbers of all that run.
pub(crate) fn processes() -> impl Iterator<Item = u32> {
    let all = fs::read_dir("/proc").expect("there is /proc").flatten();
    all.filter_map(|entry| entry.file_name().to_str().and_then(|name| name.parse().ok()))
}

/// A process and its children.
pub(crate) fn family(parent: u32) -> Vec<u32> {
    let is_child =
        |pid: &u32| stat(Path::new(&format!("/proc/{pid}"))).is_some_and(|stat| stat[1].parse() == Ok(parent));
    processes().filter(is_child).chain([parent]).collect()
}

/// Whether all threads of a process have been stopped.
pub(crate) fn is_stopped(pid: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    threads.map(|thread| stat(&thread.path())).all(|stat| stat.is_none_or(|stat| stat[0] == "T"))
}

/// Returns whether any process has this working directory.
pub(crate) fn any_process_in(folder: PathBuf) -> bool {
    processes().any(|pid| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|its| its == folder))
}

/// What the kernel says of a process or thread after its name: its state, its parent, and so on.
fn stat(of: &Path) -> Option<Vec<String>> {
    let stat = fs::read_to_string(of.join("stat")).ok()?;
    Some(stat.rsplit_once(')')?.1.split_whitespace().map(str::to_owned).collect())
}
