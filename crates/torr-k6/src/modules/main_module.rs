//! The top level of a script in one runtime: modules installed, the main module run, its exports taken.

use std::sync::Arc;

use rquickjs::{Ctx, Module, Object, Promise, Result, Runtime};

use super::common_js;
use super::loader::{ProgramLoader, exports_of};
use super::program::Program;

/// Lets a runtime find the modules of a program. To be called outside of the runtime's contexts, which lock it.
pub fn set_loader(runtime: &Runtime, program: &Arc<Program>) {
    let loader = ProgramLoader(program.clone());
    runtime.set_loader(loader.clone(), loader);
}

/// Defines `require` among the globals of a context.
pub fn define_require(ctx: &Ctx<'_>, program: &Arc<Program>) -> Result<()> {
    let require = common_js::require_function(ctx, program, program.main())?;
    ctx.globals().set("require", require)
}

/// Begins to run the top level of the main module and of all that it imports. The promise is fulfilled with the main
/// module's namespace when pending jobs have run, and rejected with what the top level threw.
pub fn import_main<'js>(ctx: &Ctx<'js>, program: &Program) -> Result<Promise<'js>> {
    Module::import(ctx, program.main())
}

/// Returns the exports of the main module, given the namespace that `import_main` was fulfilled with. They are live: read
/// them after the top level has finished.
pub fn exports<'js>(ctx: &Ctx<'js>, program: &Arc<Program>, namespace: Object<'js>) -> Result<Object<'js>> {
    exports_of(ctx, program, namespace)
}
