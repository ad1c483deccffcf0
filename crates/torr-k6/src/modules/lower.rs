//! A module's source as QuickJS takes it: imports found, the module's format determined, TypeScript lowered.

use std::collections::BTreeSet;
use std::path::PathBuf;

use oxc_allocator::Allocator;
use oxc_ast::ast::{Expression, ImportDeclarationSpecifier, ObjectPropertyKind, Program, Statement, StringLiteral};
use oxc_codegen::{Codegen, CodegenOptions, CommentOptions};
use oxc_parser::{ParseOptions, Parser};
use oxc_semantic::SemanticBuilder;
use oxc_span::SourceType;
use oxc_transformer::{TransformOptions, Transformer};

use super::compile;
use super::error::ModuleError;
use super::lines::Lines;
use super::nesting;

/// Stack of the thread that parses, in bytes. The parser recurses with the nesting of the source; pages that are not
/// touched cost nothing.
const STACK: usize = 512 << 20;
/// The language of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    JavaScript,
    TypeScript,
}

/// How a module exports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// `import` and `export`.
    Module,
    /// `require` and `module.exports`.
    CommonJs,
}

/// A module that a source imports by a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Import {
    pub(super) name: String,
    pub(super) bindings: BTreeSet<String>,
    pub(super) line: u32,
    pub(super) column: u32,
}

/// A source as QuickJS takes it.
pub(super) struct Lowered {
    pub(super) code: String,
    pub(super) lines: Option<Lines>,
    pub(super) format: Format,
    pub(super) imports: Vec<Import>,
    pub(super) exports: BTreeSet<String>,
    /// The bytecode of the module, or of the function of a CommonJS module.
    pub(super) compiled: Option<Vec<u8>>,
}

/// Returns the module `source`, which stands in `file`, as QuickJS takes it.
pub(super) fn lower(file: &str, source: &str, language: Language) -> Result<Lowered, ModuleError> {
    if language == Language::TypeScript && nesting::is_too_deep(source) {
        return Err(ModuleError::new("the source is nested too deeply").at(file, 0, 0));
    }
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .name("k6-parse".to_owned())
            .stack_size(STACK)
            .spawn_scoped(scope, || lower_here(file, source, language))
            .map_err(|error| ModuleError::new(format!("cannot start a thread to parse: {error}")).at(file, 0, 0))?
            .join()
            .unwrap_or_else(|_| Err(ModuleError::new("the parser failed at this source").at(file, 0, 0)))
    })
}

/// The first byte in the source that a diagnosis of the parser's is about.
macro_rules! offset {
    ($diagnosis:expr) => {
        $diagnosis.labels.as_ref().and_then(|labels| labels.first()).map_or(0, |label| label.offset())
    };
}

fn lower_here(file: &str, source: &str, language: Language) -> Result<Lowered, ModuleError> {
    let checked = if language == Language::JavaScript { compile::check(file, source)? } else { None };
    let allocator = Allocator::default();
    let parse = |kind, options| Parser::new(&allocator, source, kind).with_options(options).parse();
    let kind = match language {
        Language::JavaScript => SourceType::mjs(),
        Language::TypeScript => SourceType::ts(),
    };
    let mut parsed = parse(kind, ParseOptions::default());
    let mut format = if parsed.module_record.has_module_syntax { Format::Module } else { Format::CommonJs };
    if language == Language::JavaScript && format == Format::CommonJs {
        let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
        let script = parse(SourceType::cjs(), options);
        // What is no script but a module has `await` at its top level.
        if script.errors.is_empty() || !parsed.errors.is_empty() {
            parsed = script;
        } else {
            format = Format::Module;
        }
    }
    if let Some(error) = parsed.errors.first() {
        return Err(syntax_error(file, source, &error.message, offset!(error)));
    }
    let mut program = parsed.program;
    let (code, lines) = match language {
        Language::JavaScript => (source.to_owned(), None),
        Language::TypeScript => {
            let semantic = SemanticBuilder::new().with_check_syntax_error(true).build(&program);
            if let Some(error) = semantic.errors.first() {
                return Err(syntax_error(file, source, &error.message, offset!(error)));
            }
            let scoping = semantic.semantic.into_scoping();
            let path = PathBuf::from(file);
            let lowered = Transformer::new(&allocator, &path, &TransformOptions::default())
                .build_with_scoping(scoping, &mut program);
            if let Some(error) = lowered.errors.first() {
                return Err(syntax_error(file, source, &error.message, offset!(error)));
            }
            let generated = Codegen::new()
                .with_options(CodegenOptions {
                    source_map_path: Some(path),
                    comments: CommentOptions::disabled(),
                    ..CodegenOptions::default()
                })
                .build(&program);
            let lines = Lines::of(&generated);
            (generated.code, lines)
        }
    };
    let mut exports = BTreeSet::new();
    if format == Format::CommonJs {
        common_js_exports(&program, source, &mut exports);
    }
    let compiled = match (format, language) {
        (Format::Module, Language::JavaScript) => checked,
        (Format::Module, Language::TypeScript) => compile::compiled_module(file, &code),
        (Format::CommonJs, _) => compile::compiled_function(file, &compile::wrapped(&code)),
    };
    Ok(Lowered { code, lines, format, imports: imports(&program, source), exports, compiled })
}

fn imports(program: &Program<'_>, source: &str) -> Vec<Import> {
    let mut found = Vec::new();
    let mut add = |name: &StringLiteral<'_>, bindings: BTreeSet<String>| {
        let (line, column) = position(source, name.span.start as usize);
        found.push(Import { name: name.value.to_string(), bindings, line, column });
    };
    for statement in &program.body {
        match statement {
            Statement::ImportDeclaration(import) if import.import_kind.is_value() => {
                let bindings = import.specifiers.iter().flatten().filter_map(|specifier| match specifier {
                    ImportDeclarationSpecifier::ImportSpecifier(one) => Some(one.imported.name().to_string()),
                    _ => None,
                });
                add(&import.source, bindings.collect());
            }
            Statement::ExportNamedDeclaration(export) => {
                if let Some(name) = &export.source {
                    let bindings = export.specifiers.iter().map(|one| one.local.name().to_string());
                    add(name, bindings.collect());
                }
            }
            Statement::ExportAllDeclaration(export) => add(&export.source, BTreeSet::new()),
            _ => {}
        }
    }
    found
}

/// Finds the names that a CommonJS module exports as far as its text shows them.
fn common_js_exports(program: &Program<'_>, source: &str, exports: &mut BTreeSet<String>) {
    for statement in &program.body {
        let Statement::ExpressionStatement(statement) = statement else { continue };
        let Expression::AssignmentExpression(assignment) = &statement.expression else { continue };
        let target = assignment.left.as_member_expression();
        let whole = target.is_some_and(|member| {
            member.static_property_name() == Some("exports") && member.object().is_specific_id("module")
        });
        let Expression::ObjectExpression(object) = &assignment.right else { continue };
        if !whole {
            continue;
        }
        for property in &object.properties {
            if let ObjectPropertyKind::ObjectProperty(property) = property
                && let Some(name) = property.key.static_name()
            {
                exports.insert(name.into_owned());
            }
        }
    }
    for marker in ["exports.", "exports, \"", "exports, '", "exports,\"", "exports,'", "exports[\"", "exports['"] {
        for (at, _) in source.match_indices(marker) {
            let name: String = source[at + marker.len()..]
                .chars()
                .take_while(|&one| one.is_alphanumeric() || one == '_' || one == '$')
                .take(200)
                .collect();
            if name.starts_with(|one: char| !one.is_ascii_digit()) {
                exports.insert(name);
            }
        }
    }
}

fn syntax_error(file: &str, source: &str, message: &str, offset: usize) -> ModuleError {
    let (line, column) = position(source, offset);
    let message = message.trim_end_matches('.');
    ModuleError::new(format!("syntax error: {message}")).at(file, line, column)
}

/// Returns line and column, from 1, of a byte of a source.
pub(super) fn position(source: &str, offset: usize) -> (u32, u32) {
    let before = &source.as_bytes()[..offset.min(source.len())];
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    let begin = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    let column = String::from_utf8_lossy(&before[begin..]).chars().count() + 1;
    let bounded = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    (bounded(line), bounded(column))
}
