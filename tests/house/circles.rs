//! Modules of a crate use each other in one direction, so that each can be read with only what stands below it in mind.
//!
//! A module is a file. File `a` uses file `b` where code of `a` names `b` or an item of `b` by a path, or imports either, outside
//! of `#[cfg(test)]`; a name that another module only hands on (`pub use`) is a use of the module that has the item. File `b` uses
//! file `a` as well where a file passes a function of `a` to `b`, which takes pointers to functions. A parent and its child modules
//! follow the rule as well: either the parent uses the child, whose state the child then cannot name, or the child extends the
//! parent, which then only declares the child (`mod child;`) or hands its names on. The top modules of a crate, each with all
//! modules below it, use each other in one direction as well.

mod source;

use source::{Passed, Path, Source};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path as FilePath, PathBuf};

/// The modules of a crate with the modules that each uses. A module's name is its path, and the crate's root has the name `crate`.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// Returns the uses among sources, each with its module's path.
fn uses(texts: &BTreeMap<Path, String>) -> Uses {
    let children = |of: &Path| -> Vec<String> {
        let direct = texts.keys().filter(|path| path.len() == of.len() + 1 && path.starts_with(of));
        direct.filter_map(|path| path.last().cloned()).collect()
    };
    let mut sources: BTreeMap<_, _> =
        texts.iter().map(|(path, text)| (path.clone(), Source::read(text, &children(path)))).collect();
    let tests: Vec<Path> = sources
        .iter()
        .flat_map(|(path, source)| source.test_modules.iter().map(|name| path.iter().chain([name]).cloned().collect()))
        .collect();
    sources.retain(|path, _| !tests.iter().any(|test| path.starts_with(test)));
    let used = |path: &Path| {
        let of = &sources[path].uses;
        let targets = of.iter().map(|(inline, target)| {
            let from: Path = path.iter().chain(inline).cloned().collect();
            resolve(&sources, from, target, 0)
        });
        targets.filter(|target| target != path).map(|target| named(&target)).collect()
    };
    let mut uses: Uses = sources.keys().map(|path| (named(path), used(path))).collect();
    for (to, function) in calls_back(&sources) {
        uses.entry(named(&to)).or_default().insert(named(&function));
    }
    uses
}

/// Returns the modules that are passed a function, each with the module that defines the function.
fn calls_back(sources: &BTreeMap<Path, Source>) -> Vec<(Path, Path)> {
    let types: Vec<_> =
        sources.iter().flat_map(|(path, source)| source.pointer_types.iter().map(move |name| (path, name))).collect();
    let takes_pointers = |module: &Path| {
        let source = &sources[module];
        let is_named = |(of, name): &(&Path, &String)| {
            source.words.contains(*name)
                && source.uses.iter().any(|(_, path)| resolve(sources, module.clone(), path, 0) == **of)
        };
        source.has_pointers || types.iter().any(is_named)
    };
    let mut found = Vec::new();
    for (path, source) in sources {
        for Passed { inline, to, function } in &source.passed {
            let from: Path = path.iter().chain(inline).cloned().collect();
            let (to, of) = (resolve(sources, from.clone(), to, 0), resolve(sources, from, function, 0));
            let is_function = function.last().is_some_and(|name| sources[&of].functions.contains(name));
            if is_function && to != of && to != *path && takes_pointers(&to) {
                found.push((to, of));
            }
        }
    }
    found
}

fn named(path: &Path) -> String {
    if path.is_empty() { "crate".to_owned() } else { path.join("::") }
}

/// Returns the module that a path leads to, seen from a module.
fn resolve(sources: &BTreeMap<Path, Source>, mut from: Path, target: &Path, depth: usize) -> Path {
    let mut rest = target.as_slice();
    while let [first, others @ ..] = rest {
        match first.as_str() {
            "crate" => from.clear(),
            "self" => {}
            "super" => drop(from.pop()),
            name => {
                from.push(name.to_owned());
                if !sources.contains_key(&from) {
                    from.pop();
                    let handed_on = sources.get(&from).and_then(|source| source.names.get(name));
                    // Rust allows imports that name each other, so the depth has a bound.
                    if let Some(path) = handed_on.filter(|path| *path != target && depth < 8) {
                        let path = path.iter().chain(others).cloned().collect();
                        return resolve(sources, from, &path, depth + 1);
                    }
                    break;
                }
            }
        }
        rest = others;
    }
    while !from.is_empty() && !sources.contains_key(&from) {
        from.pop();
    }
    from
}

/// Returns the sets of modules that use each other in a circle.
fn circles(uses: &Uses) -> Vec<BTreeSet<String>> {
    let reached = |from: &String| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(module) = next.pop() {
            next.extend(uses.get(module).into_iter().flatten().filter(|used| seen.insert((*used).clone())));
        }
        seen
    };
    let all: BTreeMap<_, _> = uses.keys().map(|module| (module, reached(module))).collect();
    let of = |module: &String| -> BTreeSet<String> {
        all[module].iter().filter(|other| all.get(other).is_some_and(|back| back.contains(module))).cloned().collect()
    };
    let found: BTreeSet<_> = uses.keys().map(of).filter(|circle| !circle.is_empty()).collect();
    found.into_iter().collect()
}

/// Reads the sources of a folder, each by its module's path.
fn read(folder: &FilePath, at: &Path, texts: &mut BTreeMap<Path, String>) {
    for entry in fs::read_dir(folder).expect("the folder can be read").flatten() {
        let (file, name) = (entry.path(), entry.path().file_stem().map(|name| name.to_string_lossy().into_owned()));
        let path: Path = at.iter().cloned().chain(name).collect();
        if file.is_dir() {
            read(&file, &path, texts);
        } else if file.extension().is_some_and(|extension| extension == "rs") {
            let is_root = at.is_empty() && ["lib", "main"].contains(&path[0].as_str());
            let text = fs::read_to_string(&file).expect("a source can be read");
            // A program beside a library is a crate of its own, which only uses the library.
            if !(is_root && path[0] == "main" && folder.join("lib.rs").exists()) {
                texts.insert(if is_root { Path::new() } else { path }, text);
            }
        }
    }
}

/// Returns the crates of the repository: names and folders of sources.
fn crates() -> Vec<(String, PathBuf)> {
    let root = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let listed = fs::read_dir(root.join("crates")).expect("the folder of crates can be read").flatten();
    let others = ["bench", "clinic", "tests/support"].map(|name| root.join(name));
    let mut crates: Vec<_> = listed
        .map(|entry| entry.path())
        .chain(others)
        .filter_map(|folder| {
            let name = folder.file_name()?.to_string_lossy().into_owned();
            Some((name, folder.join("src"))).filter(|(_, sources)| sources.is_dir())
        })
        .collect();
    crates.sort();
    crates
}

#[test]
fn modules_of_a_crate_use_each_other_in_one_direction() {
    let mut faults = Vec::new();
    for (name, sources) in crates() {
        let mut texts = BTreeMap::new();
        read(&sources, &Path::new(), &mut texts);
        let uses = uses(&texts);
        let of_rooms = circles(&rooms(&uses));
        faults.extend(of_rooms.iter().map(|circle| format!("{name} has a circle of top modules: {circle:?}")));
        for circle in circles(&uses) {
            let each = circle.iter().map(|module| {
                let within = uses[module].intersection(&circle).cloned().collect::<Vec<_>>().join(", ");
                format!("\n    {module} uses {within}")
            });
            faults.push(format!("{name} has a circle of modules:{}", each.collect::<String>()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Returns the uses of a crate's rooms, which are its top modules, each with all below it.
fn rooms(uses: &Uses) -> Uses {
    let room = |module: &String| module.split("::").next().unwrap_or_default().to_owned();
    let mut rooms = Uses::new();
    for (module, used) in uses {
        rooms.entry(room(module)).or_default().extend(used.iter().map(room).filter(|used| *used != room(module)));
    }
    rooms
}

/// Returns the circles among sources that are given as pairs of a module's path and its text.
fn circles_of(sources: &[(&str, &str)]) -> Vec<Vec<String>> {
    let path = |name: &str| name.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let texts = sources.iter().map(|(name, text)| (path(name), (*text).to_owned())).collect();
    circles(&uses(&texts)).into_iter().map(|circle| circle.into_iter().collect()).collect()
}

#[test]
fn a_circle_is_found_however_its_paths_are_written() {
    for b in [
        "use crate::a::A;",
        "use super::a::{self, A};",
        "use crate::{a::{A as B}, c};",
        "fn f() { crate::a::f() }",
        "mod inner { use super::super::a::A; }",
        "use crate::A;",
        "pub use crate::a::A; fn f(_: A) {}",
        "const C: char = '\"'; use crate::a::A; // \"",
        "fn f<'a>(_: &'a str) -> crate::a::A { r#\"\"#; }",
        "#[cfg(test)] use std::io; use crate::a::A;",
    ] {
        let root = ("", "mod a; mod b; mod c; pub use a::A;");
        let found = circles_of(&[root, ("a", "use crate::b;"), ("b", b), ("c", "")]);
        assert_eq!(found, [["a", "b"]], "{b}");
    }
}

#[test]
fn a_circle_through_a_function_pointer_is_found() {
    let root = ("", "mod a; mod b; mod c;");
    let taker = ("b", "pub fn keep(f: fn() -> u8) {}");
    for a in [
        "fn f() -> u8 { 0 } fn g() { crate::b::keep(f) }",
        "use crate::b; fn f() -> u8 { 0 } fn g() { b::keep(self::f); }",
        "use crate::b::keep; fn f() -> u8 { 0 } fn g() { keep(f) }",
    ] {
        assert_eq!(circles_of(&[root, taker, ("a", a)]), [["a", "b"]], "{a}");
    }
    let (named, taker) = (("c", "pub type Keep = fn() -> u8;"), ("b", "use crate::c::Keep; pub fn keep(f: Keep) {}"));
    let a = "fn f() -> u8 { 0 } fn g() { crate::b::keep(f) }";
    assert_eq!(circles_of(&[root, named, taker, ("a", a)]), [["a", "b"]]);
    for (a, b) in [
        ("use crate::c; fn g() { crate::b::keep(c::f) }", "pub fn keep(f: fn() -> u8) {}"),
        ("fn f() -> u8 { 0 } fn g() { crate::b::keep(f) }", "pub fn keep(f: u8) {}"),
        ("fn f() -> u8 { 0 } fn g() { let f = 1; crate::b::keep(f) }", "pub fn keep(f: fn() -> u8) {}"),
        ("fn f() -> u8 { 0 } fn g() { crate::b::keep(f()) }", "pub fn keep(f: fn() -> u8) {}"),
        ("fn f() -> u8 { 0 } fn g() { crate::b::Row::of(f) }", "pub struct Row(fn() -> u8);"),
    ] {
        assert_eq!(circles_of(&[root, ("a", a), ("b", b), ("c", "pub fn f() -> u8 { 0 }")]), [[""; 0]; 0], "{a}");
    }
}

#[test]
fn tests_comments_and_names_handed_on_are_no_uses() {
    for b in [
        "// use crate::a::A;",
        "/* crate::a::f() */",
        "const C: &str = \"crate::a::A\";",
        "#[cfg(test)] mod tests { use crate::a::A; }",
        "#[cfg(test)] #[allow(unused)] use crate::a::A;",
        "pub(in crate::a) struct B;",
        "pub use crate::a::A;",
        "use other::a::A;",
        "fn f() -> impl Sized + use<> { x.a::<u8>() }",
    ] {
        let root = ("", "mod a; mod b; pub use a::A;");
        assert_eq!(circles_of(&[root, ("a", "use crate::b;"), ("b", b)]), [[""; 0]; 0], "{b}");
    }
    let tested = [("a", "use crate::b; #[cfg(test)] mod tests;"), ("b", ""), ("a::tests", "use super::*;")];
    assert_eq!(circles_of(&tested), [[""; 0]; 0]);
}

#[test]
fn a_parent_uses_its_child_or_is_used_by_it() {
    let circle = |parent, child| circles_of(&[("a", parent), ("a::b", child)]);
    assert_eq!(circle("mod b; use b::B;", "pub struct B;"), [[""; 0]; 0]);
    assert_eq!(circle("mod b; pub use b::B;", "use super::*; impl A { }"), [[""; 0]; 0]);
    assert_eq!(circle("mod b; fn f() { b::g() }", "use super::A;"), [["a", "a::b"]]);
    assert_eq!(circle("mod b; use b::B;", "use super::*;"), [["a", "a::b"]]);
}
