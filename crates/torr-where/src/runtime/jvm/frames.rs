//! Java's frames with names as they are read: class and method, the package as the module.

use super::dump::{Method, Thread};
use super::own::{is_generated, is_own};
use crate::stack::{Frame, Stack};
use std::collections::HashMap;
use std::sync::Arc;

/// The module of the code of the JVM itself.
pub const JVM: &str = "JVM";
/// The most frames that are kept to be shared.
const KNOWN: usize = 100_000;

/// The frames that were seen before.
#[derive(Debug, Default)]
pub struct Frames(HashMap<Method, Arc<Frame>>);

impl Frames {
    /// Returns a thread's frames.
    pub fn stack(&mut self, thread: &Thread) -> Stack {
        if self.0.len() > KNOWN {
            self.0.clear();
        }
        let methods = thread.frames.iter().filter(|method| !is_generated(method));
        let frames = methods.map(|method| match self.0.get(method) {
            Some(known) => known.clone(),
            None => self.0.entry(method.clone()).or_insert_with(|| Arc::new(frame(method))).clone(),
        });
        Stack(frames.collect())
    }
}

/// Returns the frame of a method.
fn frame(method: &Method) -> Frame {
    let (package, class) = method.class.rsplit_once('.').unwrap_or(("", &method.class));
    Frame {
        function: format!("{class}.{}", method.name),
        file: method.file.clone(),
        line: method.line,
        object: method.module.clone(),
        module: package.to_owned(),
        is_own: is_own(method),
        is_named: true,
    }
}

/// Returns the stack of a thread of the JVM itself, of which only its purpose is known.
pub fn of_jvm(thread: &Thread) -> Stack {
    const COLLECTORS: [&str; 7] = ["GC Thread", "G1 ", "ParGC", "Parallel GC", "ZWorker", "Shenandoah", "Gang worker"];
    let begins = |names: &[&str]| names.iter().any(|name| thread.name.starts_with(name));
    let function = if begins(&COLLECTORS) {
        "garbage collection"
    } else if begins(&["C1 ", "C2 ", "JVMCI"]) {
        "compilation"
    } else {
        "virtual machine"
    };
    let frame = Frame {
        function: function.into(),
        object: "libjvm.so".into(),
        module: JVM.into(),
        is_named: true,
        ..Frame::default()
    };
    Stack(vec![Arc::new(frame)])
}

#[cfg(test)]
mod tests {
    use super::super::dump::parse;
    use super::*;

    #[test]
    fn a_frame_has_class_and_method() {
        let dump = "\"x\" nid=0x1 cpu=1.0ms\n\tat shop.Orders$Item.hold(Orders.java:10)\n\tat shop.Orders$$Lambda/0x5.handle(Unknown Source)\n\
                    \tat sun.net.httpserver.ServerImpl.run(jdk.httpserver@17/ServerImpl.java:5)\n";
        let stack = Frames::default().stack(&parse(dump)[0]);
        let names: Vec<_> =
            stack.0.iter().map(|frame| (frame.function.as_str(), frame.module.as_str(), frame.is_own)).collect();
        assert_eq!(names, [("Orders$Item.hold", "shop", true), ("ServerImpl.run", "sun.net.httpserver", false)]);
    }

    #[test]
    fn threads_of_the_jvm_have_a_purpose() {
        let stack = |name: &str| of_jvm(&Thread { name: name.into(), ..Thread::default() }).0[0].function.clone();
        assert_eq!(
            (stack("GC Thread#3").as_str(), stack("C2 CompilerThread0").as_str()),
            ("garbage collection", "compilation")
        );
    }
}
