//! The services and messages that a call is made by.

use crate::error::GrpcError;
use crate::method::Method;
use prost_reflect::{DescriptorPool, ServiceDescriptor};
use protox::Compiler;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};
use std::path::Path;

/// The most names that a hint lists.
const MOST_NAMES: usize = 12;

/// A reader of `.proto` files by the names that `import` statements have for them.
pub trait ProtoFiles: 'static {
    /// Returns the text of a file; `None` if there is no such file.
    ///
    /// # Errors
    /// A line, for a file that cannot be read.
    fn read(&self, name: &str) -> Result<Option<String>, String>;
}

/// The services and messages of some files.
#[derive(Debug, Clone)]
pub struct Schema(DescriptorPool);

/// A method of a schema with its names.
#[derive(Debug, Clone)]
pub struct SchemaMethod {
    /// The package of the file.
    pub package: String,
    /// The service, without its package.
    pub service: String,
    /// The path, `/PACKAGE.SERVICE/METHOD`.
    pub path: String,
    /// The method.
    pub method: Method,
}

/// The files of a reader as the compiler opens them.
struct Opened<F>(F);

impl<F: ProtoFiles> FileResolver for Opened<F> {
    fn resolve_path(&self, path: &Path) -> Option<String> {
        path.to_str().map(str::to_owned)
    }

    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        match self.0.read(name).map_err(protox::Error::new)? {
            Some(text) => File::from_source(name, &text),
            None => Err(protox::Error::file_not_found(name)),
        }
    }
}

impl Schema {
    /// Compiles `.proto` files, by their names, with all that they import. The files of protobuf itself are known.
    ///
    /// # Errors
    /// [`GrpcError::Proto`].
    pub fn compile(names: &[String], files: impl ProtoFiles) -> Result<Self, GrpcError> {
        let mut resolver = ChainFileResolver::new();
        resolver.add(Opened(files));
        resolver.add(GoogleFileResolver::new());
        let mut compiler = Compiler::with_file_resolver(resolver);
        for name in names {
            compiler.open_file(name).map_err(|error| GrpcError::Proto(first_line(&error)))?;
        }
        Ok(Self(compiler.descriptor_pool()))
    }

    /// Reads a descriptor set (`google.protobuf.FileDescriptorSet`), as `protoc --include_imports --descriptor_set_out` writes it.
    ///
    /// # Errors
    /// [`GrpcError::Descriptors`].
    pub fn decode(descriptor_set: &[u8]) -> Result<Self, GrpcError> {
        let pool = DescriptorPool::decode(descriptor_set);
        pool.map(Self).map_err(|error| GrpcError::Descriptors(error.to_string()))
    }

    /// Returns the schema of a pool.
    pub(crate) fn of_pool(pool: DescriptorPool) -> Self {
        Self(pool)
    }

    /// Returns all methods of all services.
    pub fn methods(&self) -> impl Iterator<Item = SchemaMethod> {
        self.0.services().flat_map(|service| {
            let named = |method: prost_reflect::MethodDescriptor| SchemaMethod {
                package: service.parent_file().package_name().to_owned(),
                service: service.name().to_owned(),
                path: format!("/{}/{}", service.full_name(), method.name()),
                method: Method::new(method),
            };
            service.methods().map(named).collect::<Vec<_>>()
        })
    }

    /// Returns the method at the path of a URL, `/PACKAGE.SERVICE/METHOD`.
    ///
    /// # Errors
    /// [`GrpcError::Path`], [`GrpcError::Service`] and [`GrpcError::Method`].
    pub fn method(&self, path: &str) -> Result<Method, GrpcError> {
        let (service, name) = parts(path)?;
        let unknown = || GrpcError::Service {
            name: service.to_owned(),
            hint: hint(self.0.services().map(|service| service.full_name().to_owned())),
        };
        let service = self.0.get_service_by_name(service).ok_or_else(unknown)?;
        let method = service.methods().find(|method| method.name() == name);
        method.map(Method::new).ok_or_else(|| unknown_method(&service, name))
    }
}

/// Returns service and method of the path of a URL.
///
/// # Errors
/// [`GrpcError::Path`].
pub(crate) fn parts(path: &str) -> Result<(&str, &str), GrpcError> {
    let parts = path.strip_prefix('/').and_then(|path| path.split_once('/'));
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.".contains(&b));
    parts
        .filter(|(service, method)| is_name(service) && is_name(method))
        .ok_or_else(|| GrpcError::Path(path.to_owned()))
}

fn unknown_method(service: &ServiceDescriptor, name: &str) -> GrpcError {
    GrpcError::Method {
        name: name.to_owned(),
        service: service.full_name().to_owned(),
        hint: hint(service.methods().map(|method| method.name().to_owned())),
    }
}

/// Returns a hint that lists the names that there are.
fn hint(names: impl Iterator<Item = String>) -> String {
    let names: Vec<_> = names.collect();
    match names.len() {
        0 => "there is none".to_owned(),
        1..=MOST_NAMES => format!("use {}", names.join(", ")),
        _ => format!("use {} or one of {} more", names[..MOST_NAMES].join(", "), names.len() - MOST_NAMES),
    }
}

/// Returns an error of the compiler with its position. Its other forms have several lines.
fn first_line(error: &protox::Error) -> String {
    format!("{error:?}").lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files that stand here.
    struct Texts(&'static [(&'static str, &'static str)]);

    impl ProtoFiles for Texts {
        fn read(&self, name: &str) -> Result<Option<String>, String> {
            if name == "locked.proto" {
                return Err("cannot read 'locked.proto': permission denied".to_owned());
            }
            Ok(self.0.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned()))
        }
    }

    fn compile(files: &'static [(&'static str, &'static str)]) -> Result<Schema, GrpcError> {
        Schema::compile(&["shop.proto".to_owned()], Texts(files))
    }

    const ITEMS: (&str, &str) =
        ("items/item.proto", "syntax = \"proto3\"; package items; message Item { string name = 1; }");
    const SHOP: (&str, &str) = (
        "shop.proto",
        "syntax = \"proto3\"; package shop.v1; import \"items/item.proto\"; import \"google/protobuf/empty.proto\";\n\
         service Shop { rpc Get(google.protobuf.Empty) returns (items.Item); rpc All(items.Item) returns (stream items.Item); }",
    );

    #[test]
    fn imports_are_found_and_methods_named() {
        let schema = compile(&[SHOP, ITEMS]).expect("the files are sound");
        let method = schema.method("/shop.v1.Shop/All").expect("there is one");
        assert!(method.returns_stream() && !method.takes_stream());
        for (path, line) in [
            ("/shop.v1.Shop/Put", "unknown method 'Put' of shop.v1.Shop: use Get, All"),
            ("/shop.Shop/Get", "unknown service 'shop.Shop': use shop.v1.Shop"),
            ("/Get", "the path of the URL must be /PACKAGE.SERVICE/METHOD, found '/Get'"),
            ("/a/b?c", "the path of the URL must be /PACKAGE.SERVICE/METHOD, found '/a/b?c'"),
        ] {
            assert_eq!(schema.method(path).expect_err(path).to_string(), line);
        }
    }

    #[test]
    fn a_wrong_file_has_one_line_with_its_position() {
        for (files, begins) in [
            (&[("shop.proto", "syntax = \"proto3\";\nmessage {")][..], "shop.proto:2:9: "),
            (&[SHOP], "shop.proto:1:"),
            (&[("shop.proto", "syntax = \"proto3\"; message A { Missing b = 1; }")], "shop.proto:1:"),
            (&[], "path 'shop.proto'"),
            (&[("shop.proto", "import \"locked.proto\";")], "cannot read 'locked.proto'"),
        ] {
            let error = compile(files).expect_err(begins).to_string();
            assert!(error.contains(begins.trim_start_matches("path ")) && !error.contains('\n'), "{begins}: {error}");
        }
        assert!(matches!(Schema::decode(b"no set"), Err(GrpcError::Descriptors(_))));
    }
}
