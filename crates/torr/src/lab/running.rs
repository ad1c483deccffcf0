//! A subject that runs: started with its files, its upstream and its variables, and ended with all of them.

use super::call::Ended;
use super::folder;
use super::programs::{self, Program};
use crate::launch::{Launched, Launcher, free_port};
use crate::own_server;
use rustix::process::geteuid;
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tempfile::TempDir;
use torr_doctor::quoted;
use torr_net::errors::describe;

/// The longest time from the start to the first response.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest time of a command that prepares a start: a database's first files take a while.
const PREPARE: Duration = Duration::from_secs(120);

/// A program of util-linux.
const SETPRIV: &str = "setpriv";

/// How a subject is started.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    /// The number of workers.
    pub workers: usize,
    /// The URL of the database.
    pub database: Option<String>,
    /// The certificate and its key, if it is to speak TLS.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// The path by whose response it is known to be ready.
    pub path: Option<String>,
}

/// A running subject. It ends with this value, and its upstream after it.
pub struct Running {
    _launched: Launched,
    _upstream: Option<Box<Self>>,
    _folder: TempDir,
    /// The port that it listens on.
    pub port: u16,
}

impl Running {
    /// Starts a subject and waits until it responds. `programs` has its upstream.
    pub fn start(
        program: &Program,
        setting: &Setting,
        programs: &BTreeMap<String, Program>,
        stop: &AtomicBool,
    ) -> Result<Self, Ended> {
        let subject = &program.subject;
        let upstream = match &subject.upstream {
            Some(name) => {
                let behind = programs.get(name).ok_or_else(|| format!("missing upstream {name}"))?;
                let plain = Setting { tls: None, path: None, ..setting.clone() };
                Some(Box::new(Self::start(behind, &plain, programs, stop)?))
            }
            None => None,
        };
        let folder = folder::temporary()?;
        let port = free_port()?;
        let values = values(program, setting, folder.path(), port, upstream.as_deref())?;
        for (name, text) in &subject.files {
            let written = fs::write(folder.path().join(name), programs::fill(text, &values));
            written.map_err(|error| format!("cannot write its file {name}: {}", describe(&error)))?;
        }
        let user = subject.user.as_deref().filter(|_| geteuid().is_root()).map(User::find).transpose()?;
        let user = user.as_ref();
        if let Some(User { name, .. }) = user {
            programs::to_end(&format!("chown -R {name}: ."), folder.path(), PREPARE, stop)?;
        }
        for command in &subject.prepare {
            let command = programs::fill(command, &values);
            programs::to_end_as(&command, &as_user(user, &command), folder.path(), PREPARE, stop)?;
        }
        let mut command = match (&setting.tls, &subject.tls) {
            (Some(_), Some(tls)) => tls.clone(),
            (Some(_), None) => return Err("no command for TLS".to_owned().into()),
            (None, _) => subject.command.clone(),
        };
        if let (Some(_), Some(arguments)) = (&setting.database, &subject.database) {
            command += &format!(" {arguments}");
        }
        // Quoted, so that a value stays one word.
        let quoted: Vec<_> = values.iter().map(|(name, value)| (*name, quoted(value))).collect();
        let command = programs::fill(&command, &quoted);
        let program_of = Launcher::parse("command", &command)?;
        if !programs::is_here(program_of.program()) {
            return Err(format!("no such program: '{}'", program_of.program()).into());
        }
        let launcher = Launcher::parse("command", &as_user(user, &command))?.called(program_of.program());
        let launcher = launcher.within(folder.path().to_owned(), variables(program, setting, port, &values));
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let launched = launcher.start(&[], &[address])?;
        let launched = match &setting.path {
            Some(path) if setting.tls.is_none() => {
                let plan = own_server::get(&format!("http://127.0.0.1:{port}{path}"), false)?;
                launched.until_it_responds(&plan, PATIENCE, stop)?
            }
            _ => launched.until_it_listens(address, PATIENCE, stop)?,
        };
        Ok(Self { _launched: launched, _upstream: upstream, _folder: folder, port })
    }
}

/// Returns the values of the placeholders.
fn values(
    program: &Program,
    setting: &Setting,
    folder: &Path,
    port: u16,
    upstream: Option<&Running>,
) -> Result<Vec<(&'static str, String)>, Ended> {
    let torr = env::current_exe().map_err(|error| format!("cannot find this program: {}", describe(&error)))?;
    let shown = |path: &Path| path.display().to_string();
    let (cert, key) = setting.tls.clone().unwrap_or_default();
    Ok(vec![
        ("{port}", port.to_string()),
        ("{workers}", setting.workers.to_string()),
        ("{here}", shown(&program.subject.folder)),
        ("{dir}", shown(folder)),
        ("{source}", shown(&program.source)),
        ("{torr}", shown(&torr)),
        ("{database}", setting.database.clone().unwrap_or_default()),
        ("{upstream}", upstream.map(|upstream| upstream.port.to_string()).unwrap_or_default()),
        ("{cert}", shown(&cert)),
        ("{key}", shown(&key)),
    ])
}

/// Returns the environment: what every program gets, and what the subject adds.
fn variables(
    program: &Program,
    setting: &Setting,
    port: u16,
    values: &[(&'static str, String)],
) -> Vec<(String, String)> {
    let path = programs::path().to_string_lossy().into_owned();
    let common = [("PATH", path), ("PORT", port.to_string()), ("WORKERS", setting.workers.to_string())];
    let database = setting.database.clone().map(|url| ("DATABASE_URL", url));
    let common = common.into_iter().chain(database).map(|(name, value)| (name.to_owned(), value));
    let own = program.subject.environment.iter().map(|(name, text)| (name.clone(), programs::fill(text, values)));
    common.chain(own).collect()
}

/// A user of the system, with the number of the group.
struct User {
    name: String,
    group: String,
}

impl User {
    fn find(name: &str) -> Result<Self, Ended> {
        let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let mut users = users.lines().map(|line| line.split(':'));
        let mut found = users.find(|fields| fields.clone().next() == Some(name));
        let group = found.as_mut().and_then(|fields| fields.nth(3)).map(str::to_owned);
        let group = group.ok_or_else(|| format!("no such user: '{name}', and the program refuses to run as root"))?;
        Ok(Self { name: name.to_owned(), group })
    }
}

/// Returns a command that gets SIGTERM if this process is killed, and that runs as another user, if one is given.
fn as_user(user: Option<&User>, command: &str) -> String {
    let user = user.map(|User { name, group }| format!(" --reuid={name} --regid={group} --clear-groups"));
    if user.is_none() && !programs::is_here(SETPRIV) {
        return command.to_owned();
    }
    // If this process was killed before setpriv's call, the signal will not come: then the parent is another one.
    let parent = std::process::id();
    let alive = quoted(&format!("[ $PPID = {parent} ] && exec \"$@\""));
    format!("{SETPRIV} --pdeathsig=TERM{} -- sh -c {alive} sh {command}", user.unwrap_or_default())
}
