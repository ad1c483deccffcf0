//! Scripts in folders of their own, run in a runtime of their own.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use rquickjs::{CatchResultExt, Context, Function, Runtime, Value};
use torr_k6::api::console::{ConsoleSink, Level};
use torr_k6::api::globals::Globals;
use torr_k6::api::registry;
use torr_k6::modules::{self, Access, Builtins, ModuleError, Program};
use torr_k6::shared_arrays::SharedArrays;

/// The built-in modules of the crate.
pub fn builtins() -> Builtins {
    Builtins { has: registry::has, declare: registry::declare, require: registry::require }
}

/// Console lines of a script.
#[derive(Default)]
pub struct Lines(pub Mutex<Vec<(Level, String)>>);

impl ConsoleSink for Lines {
    fn write(&self, level: Level, text: &str) {
        self.0.lock().unwrap().push((level, text.to_owned()));
    }
}

/// Sources of a script in a folder; the first one is the main module.
pub struct Script {
    /// Kept until the script has run.
    pub _folder: tempfile::TempDir,
    pub program: Arc<Program>,
    pub arrays: Arc<SharedArrays>,
}

pub fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

pub fn load(files: &[(&str, &str)]) -> Result<Script, ModuleError> {
    let folder = folder(files);
    let access = access(folder.path());
    let program = Program::load(&folder.path().join(files[0].0), access, builtins())?;
    Ok(Script { _folder: folder, program: Arc::new(program), arrays: Arc::default() })
}

/// Access to a folder, without a network.
pub fn access(folder: &Path) -> Access {
    let fetch = |url: &str| Err(format!("no network for {url}"));
    Access::new(folder, None, false, Box::new(fetch)).unwrap()
}

/// What a run of a script's top level and of its default function came to.
pub struct Outcome {
    /// JSON of what the default function returned, or the error with its stack in the source's positions.
    pub result: Result<String, String>,
    pub console: Vec<(Level, String)>,
}

impl Script {
    /// Runs the top level and then the default function, as the virtual user `vu`.
    pub fn run(&self, vu: u64) -> Outcome {
        let lines = Arc::new(Lines::default());
        let console: Arc<dyn ConsoleSink> = lines.clone();
        let env = BTreeMap::from([("NAME".to_owned(), "value".to_owned())]);
        let runtime = Runtime::new().unwrap();
        let context = Context::full(&runtime).unwrap();
        modules::set_loader(&runtime, &self.program);
        let result = context.with(|ctx| {
            let globals = Globals { env: &env, vu, console: &console, program: &self.program, arrays: &self.arrays };
            let outcome = (|| -> rquickjs::Result<String> {
                globals.install(&ctx)?;
                let namespace = modules::import_main(&ctx, &self.program)?.finish()?;
                let exports = modules::exports(&ctx, &self.program, namespace)?;
                modules::leave_init(&ctx);
                let Some(default) = exports.get::<_, Option<Function<'_>>>("default")? else {
                    return Ok(String::new());
                };
                let mut value: Value<'_> = default.call(())?;
                if let Some(promise) = value.as_promise() {
                    value = promise.finish()?;
                }
                let json = ctx.json_stringify(value)?;
                Ok(json.map(|json| json.to_string()).transpose()?.unwrap_or_else(|| "undefined".to_owned()))
            })();
            outcome.catch(&ctx).map_err(|error| match error {
                rquickjs::CaughtError::Exception(exception) => {
                    let name: String = exception.as_object().get("name").unwrap_or_default();
                    let message = exception.message().unwrap_or_default();
                    let stack = self.program.source_stack(&exception.stack().unwrap_or_default());
                    format!("{name}: {message}\n{stack}")
                }
                other => other.to_string(),
            })
        });
        let console = lines.0.lock().unwrap().clone();
        Outcome { result, console }
    }
}

/// Runs a script of one file as the first pass does, and returns what its default function returned, as JSON.
pub fn value(source: &str) -> String {
    let outcome = load(&[("main.js", source)]).unwrap().run(0);
    outcome.result.unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the value of an expression as JSON, after `imports`.
pub fn expression(imports: &str, expression: &str) -> String {
    value(&format!("{imports}\nexport default async () => ({expression});"))
}

/// Returns the message of what an expression throws, with the error's name.
pub fn thrown(imports: &str, expression: &str) -> String {
    let source = format!("{imports}\nexport default async () => ({expression});");
    let outcome = load(&[("main.js", &source)]).unwrap().run(0);
    let error = outcome.result.expect_err("an exception");
    error.lines().next().unwrap_or_default().to_owned()
}
