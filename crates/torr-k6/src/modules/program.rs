//! All modules of a script, loaded once for all virtual users.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::access::Access;
use super::address::{Address, folder_of};
use super::builtin::Builtins;
use super::error::ModuleError;
use super::lines::Position;
use super::unit::{Kind, Unit};
use crate::host::Host;
use rquickjs::Ctx;

/// Most modules of a script: a bound for generated imports that name ever new modules.
const MAX_UNITS: usize = 10_000;

/// All modules of a script. Those that statements import are loaded at once, those that `require` and `import()` name when
/// the first pass over the top level gets there; after the first pass nothing is loaded any more.
pub struct Program {
    access: Access,
    builtins: Builtins,
    main: String,
    sealed: AtomicBool,
    units: Mutex<BTreeMap<String, Arc<Unit>>>,
    files: Mutex<BTreeMap<String, Arc<[u8]>>>,
}

impl std::fmt::Debug for Program {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Program").field("main", &self.main).finish_non_exhaustive()
    }
}

impl Program {
    /// Loads the script in the file `entry` and all that it imports.
    pub fn load(entry: &Path, access: Access, builtins: Builtins) -> Result<Self, ModuleError> {
        let address = Address::File(access.entry(entry)?);
        let unit = Unit::load(&address, &access)?;
        Self::with_main(unit, access, builtins)
    }

    /// Loads a script from its text, such as that of standard input. Its relative imports start at the folder of `access`.
    pub fn from_text(name: &str, text: Vec<u8>, access: Access, builtins: Builtins) -> Result<Self, ModuleError> {
        let address = Address::File(access.folder().join(name));
        let unit = Unit::of(address.to_string(), name, text)?;
        Self::with_main(unit, access, builtins)
    }

    fn with_main(main: Unit, access: Access, builtins: Builtins) -> Result<Self, ModuleError> {
        let main = Arc::new(main);
        let program = Program {
            access,
            builtins,
            main: main.name.clone(),
            sealed: AtomicBool::new(false),
            units: Mutex::new(BTreeMap::from([(main.name.clone(), main.clone())])),
            files: Mutex::new(BTreeMap::new()),
        };
        let mut waiting = vec![main];
        while let Some(unit) = waiting.pop() {
            for import in &unit.imports {
                let here = |error: ModuleError| error.at(&unit.name, import.line, import.column);
                let address = program.resolve(&unit.name, &import.name).map_err(here)?;
                if matches!(address, Address::Builtin(_)) || program.known(&address.to_string()).is_some() {
                    continue;
                }
                waiting.push(program.unit(&address).map_err(here)?);
            }
        }
        Ok(program)
    }

    /// Returns the name of the main module inside QuickJS: a URL.
    pub fn main(&self) -> &str {
        &self.main
    }

    /// Returns what the script may read.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Returns whether a text occurs in the source of a module.
    pub fn mentions(&self, text: &str) -> bool {
        let units = self.units.lock().unwrap_or_else(PoisonError::into_inner);
        units.values().any(|unit| unit.code.contains(text))
    }

    /// Ends the first pass: modules and files that were not loaded until now cannot be loaded any more.
    pub fn seal(&self) {
        self.sealed.store(true, Ordering::Release);
    }

    /// Returns the content of the file that the script module `base` calls `name`. All virtual users share it.
    pub fn file(&self, base: &str, name: &str) -> Result<Arc<[u8]>, ModuleError> {
        if name.is_empty() {
            return Err(ModuleError::new("open() needs the name of a file"));
        }
        let fault = |reason: &str| ModuleError::new(format!("cannot open '{name}': {reason}"));
        if name.contains("://") && !name.starts_with("file://") {
            return Err(fault("only local files can be opened"));
        }
        let path = self.path(base, name).ok_or_else(|| fault("not the URL of a local file"))?;
        let key = path.to_string_lossy().into_owned();
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(content) = files.get(&key) {
            return Ok(content.clone());
        }
        if self.sealed.load(Ordering::Acquire) {
            return Err(fault("files can be opened later only if the first pass (__VU is 0) opened them"));
        }
        let content: Arc<[u8]> = self.access.read(&path)?.into();
        files.insert(key, content.clone());
        Ok(content)
    }

    /// Returns whether there is a file that the script module `base` calls `name`.
    pub fn has_file(&self, base: &str, name: &str) -> bool {
        let Some(path) = self.path(base, name) else { return false };
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.contains_key(&*path.to_string_lossy()) || self.access.is_file(&path)
    }

    /// Returns the path of the file that the script module `base` calls `name`; `None` for a URL that has none.
    fn path(&self, base: &str, name: &str) -> Option<PathBuf> {
        match name.strip_prefix("file://") {
            Some(_) => url::Url::parse(name).ok()?.to_file_path().ok(),
            None => Some(folder_of(base, &self.access).join(name)),
        }
    }

    /// Gives a context the program, for host functions that read its files.
    pub fn attach(self: &Arc<Self>, ctx: &Ctx<'_>) {
        let _ = ctx.store_userdata(Host(self.clone()));
    }

    /// Returns the program that a context was given.
    pub fn of(ctx: &Ctx<'_>) -> Option<Arc<Self>> {
        Some(ctx.userdata::<Host<Arc<Self>>>()?.0.clone())
    }

    /// Returns a position of the script's source for a position that QuickJS tells.
    pub fn source_position(&self, module: &str, position: Position) -> Position {
        self.known(module).map_or(position, |unit| unit.source(position))
    }

    /// Returns a call stack as QuickJS tells it with the positions of the script's source.
    pub fn source_stack(&self, stack: &str) -> String {
        let lines = stack.lines().map(|line| self.source_line(line).unwrap_or_else(|| line.to_owned()));
        let mut text = lines.collect::<Vec<_>>().join("\n");
        if stack.ends_with('\n') {
            text.push('\n');
        }
        text
    }

    /// Returns `    at name (url:line:column)` with the position in the source.
    fn source_line(&self, line: &str) -> Option<String> {
        let close = if line.ends_with(')') { ")" } else { "" };
        let mut parts = line[..line.len() - close.len()].rsplitn(3, ':');
        let column = parts.next()?.parse().ok()?;
        let row = parts.next()?.parse().ok()?;
        let before = parts.next()?;
        let url = before.rfind("file://").or_else(|| before.rfind("https://"))?;
        let position = self.source_position(&before[url..], Position { line: row, column });
        Some(format!("{before}:{}:{}{close}", position.line, position.column))
    }

    pub(super) fn builtins(&self) -> Builtins {
        self.builtins
    }

    pub(super) fn resolve(&self, base: &str, name: &str) -> Result<Address, ModuleError> {
        Address::resolve(base, name, &self.access, self.builtins)
    }

    /// Returns the module at `address`, which is loaded if it is not yet.
    pub(super) fn unit(&self, address: &Address) -> Result<Arc<Unit>, ModuleError> {
        let name = address.to_string();
        if let Some(unit) = self.known(&name) {
            return Ok(unit);
        }
        if self.sealed.load(Ordering::Acquire) {
            return Err(ModuleError::new(format!(
                "cannot import '{name}': modules can be loaded later only if the first pass (__VU is 0) loaded them"
            )));
        }
        let unit = Arc::new(Unit::load(address, &self.access)?);
        let mut units = self.units.lock().unwrap_or_else(PoisonError::into_inner);
        if units.len() >= MAX_UNITS {
            return Err(ModuleError::new(format!("more than {MAX_UNITS} modules are not supported")));
        }
        Ok(units.entry(name).or_insert(unit).clone())
    }

    /// Returns the names that a CommonJS module has to export: those that its text shows, and those that others import from it.
    pub(super) fn common_js_names(&self, unit: &Unit) -> BTreeSet<String> {
        let mut names = unit.exports.clone();
        let units: Vec<_> = {
            let units = self.units.lock().unwrap_or_else(PoisonError::into_inner);
            units.values().filter(|other| other.kind == Kind::Module).cloned().collect()
        };
        for other in units {
            for import in &other.imports {
                let same =
                    self.resolve(&other.name, &import.name).is_ok_and(|address| address.to_string() == unit.name);
                if same {
                    names.extend(import.bindings.iter().cloned());
                }
            }
        }
        names.remove("default");
        names
    }

    fn known(&self, name: &str) -> Option<Arc<Unit>> {
        self.units.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }
}
