//! What QuickJS asks when it meets an import: which module a name means, and the module itself.

use std::sync::Arc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::prelude::Func;
use rquickjs::{Ctx, Function, Module, Object, Result};

use crate::host::go_error;

use super::address::Address;
use super::error::ModuleError;
use super::program::Program;
use super::unit::Kind;
use super::{bytecode, common_js};

/// Finds the modules of a program for one runtime.
#[derive(Clone)]
pub(super) struct ProgramLoader(pub(super) Arc<Program>);

fn thrown(ctx: &Ctx<'_>, error: &ModuleError) -> rquickjs::Error {
    go_error(ctx, &error.to_string())
}

impl Resolver for ProgramLoader {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        match self.0.resolve(base, name) {
            Ok(address) => Ok(address.to_string()),
            Err(error) => Err(thrown(ctx, &error)),
        }
    }
}

impl Loader for ProgramLoader {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        let program = &self.0;
        let address = program.resolve("", name).map_err(|error| thrown(ctx, &error))?;
        if let Address::Builtin(name) = &address {
            return (program.builtins().declare)(ctx, name)
                .unwrap_or_else(|| Err(go_error(ctx, "no such built-in module")));
        }
        let unit = program.unit(&address).map_err(|error| thrown(ctx, &error))?;
        let module = match unit.kind {
            Kind::Module => bytecode::declare(ctx, &unit, &unit.code)?,
            Kind::CommonJs => bytecode::declare(ctx, &unit, &common_js::bridge(program, &unit))?,
            Kind::Json => bytecode::declare(ctx, &unit, "export default import.meta.exported();")?,
        };
        let meta = module.meta()?;
        meta.set("url", unit.name.as_str())?;
        match unit.kind {
            Kind::Module => {
                meta.set("resolve", resolve_function(ctx, program, &unit.name)?)?;
            }
            Kind::CommonJs => {
                let program = program.clone();
                let run = move |ctx: Ctx<'js>| common_js::exported(&ctx, &program, &unit);
                meta.set("exported", Func::from(run))?;
            }
            Kind::Json => {
                let parse = move |ctx: Ctx<'js>| common_js::json(&ctx, &unit);
                meta.set("exported", Func::from(parse))?;
            }
        }
        Ok(module)
    }
}

/// Returns `import.meta.resolve` of the module `base`: the URL that a name means there.
fn resolve_function<'js>(ctx: &Ctx<'js>, program: &Arc<Program>, base: &str) -> Result<Function<'js>> {
    let program = program.clone();
    let base = base.to_owned();
    Function::new(ctx.clone(), move |ctx: Ctx<'js>, name: String| match program.resolve(&base, &name) {
        Ok(address) => Ok(address.to_string()),
        Err(error) => Err(thrown(&ctx, &error)),
    })
}

/// Returns the exports of the main module: its namespace, or `module.exports`.
pub(super) fn exports_of<'js>(ctx: &Ctx<'js>, program: &Arc<Program>, namespace: Object<'js>) -> Result<Object<'js>> {
    let address = program.resolve("", program.main()).map_err(|error| thrown(ctx, &error))?;
    let unit = program.unit(&address).map_err(|error| thrown(ctx, &error))?;
    if unit.kind != Kind::CommonJs {
        return Ok(namespace);
    }
    let exports = common_js::exported(ctx, program, &unit)?;
    Ok(exports.into_object().unwrap_or(namespace))
}
