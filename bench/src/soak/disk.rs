//! A small file system in memory for logs and results, which can be filled.

use std::env;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use torr_test_support::error::Error;

/// Set in the namespace of mounts that `enter_namespace` makes.
const INSIDE: &str = "TORR_SOAK_INSIDE";
const MIB: usize = 32;

/// The file system; it is unmounted when this is dropped, and at the latest with this program's namespace.
pub struct Disk {
    folder: PathBuf,
}

/// Becomes the same program in a mount namespace of its own, where that is allowed: for root.
pub fn enter_namespace() -> Result<(), Error> {
    if env::var_os(INSIDE).is_none() && rustix::process::geteuid().is_root() {
        let program = env::current_exe()?;
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "--propagation", "private", "--"]).arg(program).args(env::args_os().skip(1));
        eprintln!("soak: no mount namespace ({})", unshare.env(INSIDE, "1").exec());
    }
    Ok(())
}

impl Disk {
    /// Mounts it, in a namespace of its own only; none where that is not allowed.
    pub fn mount(folder: &Path) -> Result<Option<Self>, Error> {
        if env::var_os(INSIDE).is_none() {
            return Ok(None);
        }
        let folder = folder.join("disk");
        fs::create_dir(&folder)?;
        let size = format!("size={MIB}m");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "soak"]).arg(&folder).status()?;
        Ok(mounted.success().then_some(Self { folder }))
    }

    /// A file on it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Fills it to the last byte.
    pub fn fill(&self) -> Result<(), Error> {
        let (mut filler, zeros) = (File::create(self.path("filler"))?, vec![0; 4096]);
        for _ in 0..MIB * 256 + 1 {
            if filler.write_all(&zeros).is_err() {
                return Ok(());
            }
        }
        Err(Error::failed("the small disk takes more than its size"))
    }

    /// Makes room again.
    pub fn free(&self) -> Result<(), Error> {
        Ok(fs::remove_file(self.path("filler"))?)
    }

    /// Empties a file that programs append to, once it takes half of the disk.
    pub fn keep_small(&self, name: &str) -> Result<(), Error> {
        let path = self.path(name);
        if fs::metadata(&path).is_ok_and(|file| file.len() > (MIB << 19) as u64) {
            File::options().write(true).open(path)?.set_len(0)?;
        }
        Ok(())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.folder).status(); // its namespace ends soon anyway
    }
}
