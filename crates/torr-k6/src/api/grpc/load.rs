//! The methods of a client, from `.proto` files or from descriptor sets.

use super::client::ClientArg;
use crate::host::go_error;
use crate::modules::{Program, executing, in_init};
use crate::schemas::SchemaFiles;
use crate::user::Vu;
use rquickjs::{Array, Ctx, Object, Result};
use std::sync::Arc;
use torr_grpc::{ProtoFiles, Schema, SchemaMethod};

/// Files that scripts name by the folder of the one that loads them.
struct Files {
    program: Arc<Program>,
    base: String,
    /// The folders in which they are found.
    folders: Vec<String>,
}

impl ProtoFiles for Files {
    fn read(&self, name: &str) -> std::result::Result<Option<String>, String> {
        for folder in &self.folders {
            let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
            if self.program.has_file(&self.base, &path) {
                let content = self.program.file(&self.base, &path).map_err(|error| error.to_string())?;
                return String::from_utf8(content.to_vec())
                    .map(Some)
                    .map_err(|_| format!("'{path}' is not UTF-8 text"));
            }
        }
        Ok(None)
    }
}

/// Loads `.proto` files. Returns what the script learns of the methods.
pub(super) fn load<'js>(
    ctx: Ctx<'js>,
    client: ClientArg<'js>,
    folders: Vec<String>,
    names: Vec<String>,
) -> Result<Array<'js>> {
    let folders: Vec<_> =
        folders.iter().map(|folder| folder.strip_prefix("file://").unwrap_or(folder).to_owned()).collect();
    let folders = if folders.is_empty() { vec![String::new()] } else { folders };
    loaded(&ctx, &client, folders.clone(), names.clone(), move |program, base| {
        Schema::compile(&names, Files { program, base, folders }).map_err(|error| error.to_string())
    })
}

/// Loads a descriptor set. Returns what the script learns of the methods.
pub(super) fn load_protoset<'js>(ctx: Ctx<'js>, client: ClientArg<'js>, name: String) -> Result<Array<'js>> {
    loaded(&ctx, &client, Vec::new(), vec![name.clone()], move |program, base| {
        let content = program.file(&base, &name).map_err(|error| format!("couldn't open protoset: {error}"))?;
        Schema::decode(&content).map_err(|error| format!("couldn't unmarshal protoset file {name}: {error}"))
    })
}

fn loaded<'js>(
    ctx: &Ctx<'js>,
    client: &ClientArg<'js>,
    folders: Vec<String>,
    names: Vec<String>,
    schema: impl FnOnce(Arc<Program>, String) -> std::result::Result<Schema, String>,
) -> Result<Array<'js>> {
    let program = Program::of(ctx).filter(|_| in_init(ctx));
    let program = program.ok_or_else(|| go_error(ctx, "load must be called in the init context"))?;
    let base = executing(ctx).unwrap_or_else(|| program.main().to_owned());
    let files = SchemaFiles { base: base.clone(), folders, names };
    let vu = Vu::of(ctx);
    let methods = vu.run.schemas.get(&files, || Ok(schema(program, base)?.methods().collect()));
    let methods = methods.map_err(|why| go_error(ctx, &why))?;
    client.borrow().add(&methods);
    let array = Array::new(ctx.clone())?;
    for (at, method) in methods.iter().enumerate() {
        array.set(at, info(ctx, method)?)?;
    }
    Ok(array)
}

/// Returns what a script learns of a method.
fn info<'js>(ctx: &Ctx<'js>, method: &SchemaMethod) -> Result<Object<'js>> {
    let info = Object::new(ctx.clone())?;
    info.set("package", method.package.as_str())?;
    info.set("service", method.service.as_str())?;
    info.set("full_method", method.path.as_str())?;
    info.set("name", method.path.rsplit('/').next().unwrap_or_default())?;
    info.set("is_client_stream", method.method.takes_stream())?;
    info.set("is_server_stream", method.method.returns_stream())?;
    Ok(info)
}
