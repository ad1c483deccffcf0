//! Modules as bytecode: each is compiled once in a run, and loaded by all virtual users.

use crate::api::registry;
use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Exception, Module, Result, WriteOptions};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The modules of a script.
pub trait Modules: fmt::Debug + Send + Sync {
    /// Returns the name of the main module.
    fn entry(&self) -> &str;

    /// Returns the name of the module that another one imports.
    ///
    /// # Errors
    /// The reason why there is none, in one line.
    fn resolve(&self, importing: &str, specifier: &str) -> std::result::Result<String, String>;

    /// Returns the JavaScript of a module.
    ///
    /// # Errors
    /// The reason why there is none, in one line.
    fn source(&self, name: &str) -> std::result::Result<Arc<str>, String>;
}

/// The modules that have been compiled in a run.
#[derive(Debug, Default)]
pub struct Bytecode(Mutex<HashMap<String, Arc<[u8]>>>);

impl Bytecode {
    fn get(&self, name: &str) -> Option<Arc<[u8]>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    fn put(&self, name: &str, bytecode: Vec<u8>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), bytecode.into());
    }
}

/// The resolver and loader of a virtual user.
#[derive(Clone)]
pub(super) struct ModuleLoader {
    pub modules: Arc<dyn Modules>,
    pub bytecode: Arc<Bytecode>,
}

impl Resolver for ModuleLoader {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        if registry::has(name) || (base.is_empty() && name == self.modules.entry()) {
            return Ok(name.to_owned());
        }
        self.modules.resolve(base, name).map_err(|why| Exception::throw_message(ctx, &why))
    }
}

impl Loader for ModuleLoader {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        if let Some(module) = registry::declare(ctx, name) {
            return module;
        }
        if let Some(bytecode) = self.bytecode.get(name) {
            // SAFETY: the bytes were written by this version of the script engine, in this process.
            return unsafe { Module::load(ctx.clone(), &bytecode) };
        }
        let source = self.modules.source(name).map_err(|why| Exception::throw_message(ctx, &why))?;
        let module = Module::declare(ctx.clone(), name, source.as_bytes())?;
        match module.write(WriteOptions { strip_source: true, ..WriteOptions::default() }) {
            Ok(bytecode) => self.bytecode.put(name, bytecode),
            // What cannot be written is compiled again by each user.
            Err(Error::Exception) => drop(ctx.catch()),
            Err(_) => {}
        }
        Ok(module)
    }
}
