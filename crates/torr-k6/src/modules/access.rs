//! What a script may read: files below one folder, and modules from the network, which a folder keeps by hash.

use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::error::ModuleError;
use super::normal_path::normal;
use super::sent_files::SentFiles;

/// Largest file that a script may read, in bytes: `open` of larger data would hold one copy per virtual user.
const MAX_FILE: u64 = 256 << 20;
/// Largest source of a module, in bytes. The largest bundles seen have some megabytes.
pub(super) const MAX_SOURCE: usize = 16 << 20;
/// Age from which a kept module is fetched again if the network may be used.
const FRESH: Duration = Duration::from_secs(24 * 60 * 60);
/// The name of the folder that files have which another machine has sent.
const SENT: &str = "/script";

/// The function that fetches the content of an https URL.
pub type Fetch = Box<dyn Fn(&str) -> Result<Vec<u8>, String> + Send + Sync>;

/// What a script may read.
pub struct Access {
    folder: PathBuf,
    cache: Option<PathBuf>,
    offline: bool,
    fetch: Fetch,
    /// What another machine has sent. Then nothing is read here.
    sent: Option<Arc<SentFiles>>,
    /// What was read, if it is to be sent.
    kept: Option<Mutex<SentFiles>>,
}

impl Access {
    /// Returns an access to the files below `folder`; https modules come from `fetch` and are kept in `cache`. With
    /// `offline` only what is kept is used.
    pub fn new(folder: &Path, cache: Option<PathBuf>, offline: bool, fetch: Fetch) -> Result<Self, ModuleError> {
        let folder = folder
            .canonicalize()
            .map_err(|error| ModuleError::new(format!("cannot read '{}': {error}", folder.display())))?;
        Ok(Access { folder, cache, offline, fetch, sent: None, kept: None })
    }

    /// Returns an access to what another machine has sent, and to nothing else.
    pub fn sent(files: Arc<SentFiles>) -> Self {
        let fetch: Fetch = Box::new(|_| Err(NOT_SENT.to_owned()));
        Self { folder: PathBuf::from(SENT), cache: None, offline: true, fetch, sent: Some(files), kept: None }
    }

    /// Keeps what is read from now on, to be sent.
    pub fn keeping(self, keeps: bool) -> Self {
        Self { kept: keeps.then(Mutex::default), ..self }
    }

    /// Returns what was read, if it was kept.
    pub fn kept(&self) -> Option<SentFiles> {
        Some(self.kept.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// Returns the path of the script that is called `entry`.
    pub(super) fn entry(&self, entry: &Path) -> Result<PathBuf, ModuleError> {
        match &self.sent {
            Some(_) => Ok(self.folder.join(entry)),
            None => entry
                .canonicalize()
                .map_err(|error| ModuleError::new(format!("cannot read '{}': {}", entry.display(), reason(&error)))),
        }
    }

    /// Returns the name that a file has among those that are sent: its path from the folder on.
    pub fn name_of(&self, path: &Path) -> Option<String> {
        let path = normal(path);
        let own = path.strip_prefix(&self.folder).ok()?;
        let is_plain = own.components().all(|part| matches!(part, Component::Normal(_)));
        is_plain.then(|| own.to_str().map(str::to_owned)).flatten()
    }

    fn keep(&self, name: Option<String>, content: &[u8]) {
        if let (Some(kept), Some(name)) = (&self.kept, name) {
            kept.lock().unwrap_or_else(PoisonError::into_inner).insert(name, content.into());
        }
    }

    /// Returns the folder below which `script` may read: the working directory if the script is below it, since scripts
    /// import from folders beside their own; else the script's own folder.
    pub fn folder_of(script: &Path) -> PathBuf {
        let own = script.canonicalize().ok().and_then(|path| path.parent().map(Path::to_path_buf));
        let working = std::env::current_dir().and_then(|path| path.canonicalize()).ok();
        match (own, working) {
            (Some(own), Some(working)) if own.starts_with(&working) && working.parent().is_some() => working,
            (Some(own), _) => own,
            (None, Some(working)) => working,
            (None, None) => PathBuf::from("."),
        }
    }

    /// Returns the folder below which files may be read.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns whether `path` names a file that may be read.
    pub(super) fn is_file(&self, path: &Path) -> bool {
        match &self.sent {
            Some(files) => self.name_of(path).is_some_and(|name| files.contains_key(&name)),
            None => self.allowed(path).is_ok_and(|path| path.is_file()),
        }
    }

    /// Returns the content of a file.
    pub fn read(&self, path: &Path) -> Result<Vec<u8>, ModuleError> {
        let fault = |reason: &str| ModuleError::new(format!("cannot read '{}': {reason}", path.display()));
        if let Some(files) = &self.sent {
            let found = self.name_of(path).and_then(|name| files.get(&name));
            return found.map(|content| content.to_vec()).ok_or_else(|| fault(NOT_SENT));
        }
        let real = self.allowed(path)?;
        // Opening a pipe would wait for its other end.
        let facts = std::fs::metadata(&real).map_err(|error| fault(&reason(&error)))?;
        if !facts.is_file() {
            return Err(fault("not a regular file"));
        }
        let too_large = || fault("larger than 256 MiB");
        if facts.len() > MAX_FILE {
            return Err(too_large());
        }
        let file = std::fs::File::open(&real).map_err(|error| fault(&reason(&error)))?;
        let mut content = Vec::new();
        file.take(MAX_FILE + 1).read_to_end(&mut content).map_err(|error| fault(&reason(&error)))?;
        if content.len() as u64 > MAX_FILE {
            return Err(too_large());
        }
        self.keep(self.name_of(path).or_else(|| self.name_of(&real)), &content);
        Ok(content)
    }

    fn allowed(&self, path: &Path) -> Result<PathBuf, ModuleError> {
        let fault = |reason: &str| ModuleError::new(format!("cannot read '{}': {reason}", path.display()));
        let real = path.canonicalize().map_err(|error| fault(&reason(&error)))?;
        if real.starts_with(&self.folder) {
            return Ok(real);
        }
        Err(fault(&format!(
            "a script may read only files below '{}'; start it from a folder above both",
            self.folder.display()
        )))
    }

    /// Returns the source of an https module: what is kept if it is fresh, else what the server sends.
    pub(super) fn fetch(&self, url: &str) -> Result<Vec<u8>, ModuleError> {
        if let Some(files) = &self.sent {
            let missing = || ModuleError::new(format!("cannot fetch '{url}': {NOT_SENT}"));
            return files.get(url).map(|content| content.to_vec()).ok_or_else(missing);
        }
        let content = self.fetch_here(url)?;
        self.keep(Some(url.to_owned()), &content);
        Ok(content)
    }

    fn fetch_here(&self, url: &str) -> Result<Vec<u8>, ModuleError> {
        let fault = |reason: String| ModuleError::new(format!("cannot fetch '{url}': {reason}"));
        let kept = self.cache.as_ref().map(|folder| folder.join(file_name(url)));
        if let Some(content) = kept.as_deref().and_then(|path| self.cached(path, self.offline)) {
            return Ok(content);
        }
        if self.offline {
            return Err(fault("--offline is set and no copy is kept; run once without it".to_owned()));
        }
        // k6 sends this parameter first; a server that refuses it gets the URL without.
        let marked = format!("{url}{}_k6=1", if url.contains('?') { '&' } else { '?' });
        let fetched = (self.fetch)(&marked).or_else(|_| (self.fetch)(url));
        match fetched {
            Ok(content) if content.len() > MAX_SOURCE => Err(fault("larger than 16 MiB".to_owned())),
            Ok(content) => {
                if let Some(path) = kept {
                    keep(&path, &content);
                }
                Ok(content)
            }
            Err(reason) => kept.as_deref().and_then(|path| self.cached(path, true)).ok_or_else(|| fault(reason)),
        }
    }

    fn cached(&self, path: &Path, however_old: bool) -> Option<Vec<u8>> {
        let facts = std::fs::metadata(path).ok()?;
        let age = facts.modified().ok()?.elapsed().unwrap_or_default();
        if facts.len() > MAX_SOURCE as u64 || !(however_old || age < FRESH) {
            return None;
        }
        std::fs::read(path).ok()
    }
}

/// The reason why an agent cannot read a file.
const NOT_SENT: &str = "the coordinator did not send this file";

/// Keeps a fetched module. A failure costs only another fetch at the next run, so it is not an error.
fn keep(path: &Path, content: &[u8]) {
    let Some(folder) = path.parent() else { return };
    if std::fs::create_dir_all(folder).is_err() {
        return;
    }
    let partial = path.with_extension(format!("{}.part", std::process::id()));
    if std::fs::write(&partial, content).is_ok() && std::fs::rename(&partial, path).is_err() {
        let _ = std::fs::remove_file(&partial);
    }
}

fn file_name(url: &str) -> String {
    let mut name = String::with_capacity(70);
    for byte in Sha256::digest(url.as_bytes()) {
        name.push_str(&format!("{byte:02x}"));
    }
    name.push_str(".js");
    name
}

/// Returns the operating system's reason in lower case and without the error's number.
pub(super) fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        std::io::ErrorKind::IsADirectory => "is a folder".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn counted(content: &'static [u8]) -> (Fetch, Arc<AtomicUsize>) {
        let count = Arc::new(AtomicUsize::new(0));
        let seen = count.clone();
        let fetch: Fetch = Box::new(move |_| {
            seen.fetch_add(1, Ordering::Relaxed);
            Ok(content.to_vec())
        });
        (fetch, count)
    }

    #[test]
    fn a_file_outside_the_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(folder.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink(folder.path().join("secret"), inner.join("link")).unwrap();
        let access = Access::new(&inner, None, true, counted(b"").0).unwrap();
        for name in ["../secret", "link"] {
            let error = access.read(&inner.join(name)).unwrap_err();
            assert!(error.message.contains("may read only files below"), "{error}");
        }
        let error = access.read(&inner.join("missing")).unwrap_err();
        assert!(error.message.ends_with("no such file"), "{error}");
    }

    #[test]
    fn what_has_no_bounded_content_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let access = Access::new(folder.path(), None, true, counted(b"").0).unwrap();
        let refused = |name: &str, why: &str| {
            let error = access.read(&folder.path().join(name)).unwrap_err();
            assert!(error.message.ends_with(why), "{error}");
        };
        rustix::fs::mkfifoat(rustix::fs::CWD, folder.path().join("pipe"), rustix::fs::Mode::RUSR).unwrap();
        refused("pipe", "not a regular file");
        refused(".", "not a regular file");
        std::fs::File::create(folder.path().join("large")).unwrap().set_len(MAX_FILE + 1).unwrap();
        refused("large", "larger than 256 MiB");
    }

    #[test]
    fn a_fetched_module_is_kept_and_serves_offline() {
        let cache = tempfile::tempdir().unwrap();
        let kept = Some(cache.path().join("modules"));
        let (fetch, count) = counted(b"export default 1");
        let access = Access::new(cache.path(), kept.clone(), false, fetch).unwrap();
        assert_eq!(access.fetch("https://a.test/x.js").unwrap(), b"export default 1");
        assert_eq!(access.fetch("https://a.test/x.js").unwrap(), b"export default 1");
        assert_eq!(count.load(Ordering::Relaxed), 1);

        let (fetch, count) = counted(b"");
        let offline = Access::new(cache.path(), kept, true, fetch).unwrap();
        assert_eq!(offline.fetch("https://a.test/x.js").unwrap(), b"export default 1");
        let error = offline.fetch("https://a.test/y.js").unwrap_err();
        assert!(error.message.contains("https://a.test/y.js") && error.message.contains("--offline"));
        assert_eq!(count.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn what_was_read_can_be_sent_and_nothing_else_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("lib")).unwrap();
        std::fs::write(real.join("lib/a.js"), "a").unwrap();
        let access = Access::new(&real, None, false, counted(b"remote").0).unwrap().keeping(true);
        assert_eq!(access.read(&real.join("lib/./../lib/a.js")).unwrap(), b"a");
        assert_eq!(access.fetch("https://a.test/x.js").unwrap(), b"remote");
        let kept = access.kept().unwrap();
        assert_eq!(kept.keys().collect::<Vec<_>>(), ["https://a.test/x.js", "lib/a.js"]);

        let sent = Access::sent(Arc::new(kept));
        let entry = sent.entry(Path::new("lib/a.js")).unwrap();
        assert!(
            sent.is_file(&entry) && !sent.is_file(&real.join("lib/a.js")) && !sent.is_file(Path::new("/etc/hostname"))
        );
        assert_eq!(sent.read(&entry.join("../a.js")).unwrap(), b"a");
        assert_eq!(sent.fetch("https://a.test/x.js").unwrap(), b"remote");
        for path in ["/etc/hostname", "/script/../etc/hostname", "/script/lib/b.js"] {
            let error = sent.read(Path::new(path)).unwrap_err();
            assert!(error.message.ends_with("the coordinator did not send this file"), "{error}");
        }
        assert!(sent.fetch("https://a.test/y.js").is_err() && sent.kept().is_none());
    }
}
