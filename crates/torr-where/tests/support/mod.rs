//! Programs with known places, compiled and started by the tests.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A program that runs until it is dropped.
pub struct Program {
    child: Child,
}

impl Program {
    /// Starts a program, and waits until it has written a line.
    pub fn start(path: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(path)
            .args(arguments)
            .env("GOMAXPROCS", "2")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {}: {error}", path.display()));
        let output = child.stdout.take().expect("the output is piped");
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).expect("the program writes a line");
        assert_eq!(line.trim(), "ready", "{}", path.display());
        Self { child }
    }

    /// Returns the process's number.
    pub fn process(&self) -> i32 {
        self.child.id() as i32
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Compiles a program of the folder `programs` with these options, which also tell its copies apart.
pub fn compiled(source: &str, options: &[&str]) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("where");
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    let name = format!("{source}{}", options.concat()).replace(['.', '/', '=', ',', ' '], "-");
    let program = folder.join(&name);
    // Tests run side by side: each writes a file of its own and moves it to its place.
    let made = folder.join(format!("{name}.{}.{:?}", std::process::id(), std::thread::current().id()));
    let mut command = if source.ends_with(".go") {
        let mut go = Command::new("go");
        go.arg("build").args(options).arg("-o").arg(&made).env("GOFLAGS", "-p=1").env("GO111MODULE", "off");
        go
    } else if source.ends_with(".rs") {
        let mut rustc = Command::new("rustc");
        rustc.args(["--edition", "2024", "-Copt-level=3"]).args(options).arg("-o").arg(&made);
        rustc
    } else {
        let mut compiler = Command::new(if source.ends_with(".cpp") { "g++" } else { "gcc" });
        compiler.args(["-g", "-pthread"]).args(options).arg("-o").arg(&made);
        compiler
    };
    let status = command.arg(&from).status().expect("the compiler is installed");
    assert!(status.success(), "{command:?}");
    std::fs::rename(&made, &program).expect("both are in one folder");
    program
}
