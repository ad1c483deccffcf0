//! The placement of a program: in a network namespace, under a quota, on one CPU.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// The programs that a program is started through. Each of them executes the next, so that the process stays the
/// same, except `unseeing`, which starts a child.
#[derive(Clone, Default)]
pub struct Placement(Vec<OsString>);

impl Placement {
    /// Adds the network namespace of a process.
    pub fn in_network_of(mut self, pid: u32) -> Self {
        self.push(["nsenter".into(), format!("--net=/proc/{pid}/ns/net").into(), "--".into()]);
        self
    }

    /// Adds a control group. `members` is its file of process numbers.
    pub fn in_group(mut self, members: &Path) -> Self {
        let script = r#"echo $$ >"$0" && exec "$@""#;
        self.push(["sh".into(), "-c".into(), script.into(), members.into()]);
        self
    }

    /// Adds the restriction to one CPU.
    pub fn on_cpu(mut self, cpu: usize) -> Self {
        self.push(["taskset".into(), "-c".into(), cpu.to_string().into()]);
        self
    }

    /// Adds another placement, within this one.
    pub fn and(mut self, other: &Self) -> Self {
        self.0.extend(other.0.iter().cloned());
        self
    }

    /// Adds namespaces of processes and of mounts: a program sees none of the others.
    pub fn unseeing(mut self) -> Self {
        self.push(["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--"].map(Into::into));
        self
    }

    /// Returns a command that runs a program in this placement. The program ends with the thread that starts it.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("setpriv");
        command.arg("--pdeathsig=KILL").arg("--").args(&self.0).arg(program);
        command
    }

    /// Returns the words that start a program in this placement; none if it is anywhere.
    pub fn words(&self) -> Vec<String> {
        self.0.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    fn push<const N: usize>(&mut self, steps: [OsString; N]) {
        self.0.extend(steps);
    }
}
