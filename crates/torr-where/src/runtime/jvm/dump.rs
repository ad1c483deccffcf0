//! The JVM's thread dump, as text: threads, their CPU time, their frames, the monitors that they hold and wait for.

use crate::stack::FRAMES;

/// The most threads of a dump that are kept.
const THREADS: usize = 20_000;
/// The most monitors of a thread that are kept.
const MONITORS: usize = 1_000;
/// The most CPU time of a thread, in milliseconds: a thousand years.
const LONGEST_MS: f64 = 3.2e13;

/// A thread of a dump.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Thread {
    /// The thread's name.
    pub name: String,
    /// The kernel's number of the thread, in the process's PID namespace. 0 where the dump has none.
    pub number: i32,
    /// The CPU time that the thread took so far, in milliseconds. `None` of JVMs before 11.
    pub cpu_ms: Option<f64>,
    /// The state, such as `RUNNABLE`. Empty of threads of the JVM itself.
    pub state: String,
    /// The frames, the innermost one first.
    pub frames: Vec<Method>,
    /// What the thread waits for.
    pub waits: Option<(Waits, Object)>,
    /// The monitors that the thread holds.
    pub holds: Vec<Object>,
    /// Whether the thread carries a virtual thread, whose frames are not in the dump.
    pub is_carrier: bool,
}

/// A frame of a dump.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Method {
    /// The class with its package, such as `java.util.Timer`.
    pub class: String,
    /// The method.
    pub name: String,
    /// The module with its version, such as `java.base@17.0.15`. Empty of classes on the class path.
    pub module: String,
    /// The source file.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u32>,
    /// Whether the method is not written in Java.
    pub is_native: bool,
}

/// An object of the heap.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Object {
    /// The address at the time of the dump: the collector moves objects.
    pub address: u64,
    /// The class.
    pub class: String,
}

/// How a thread waits for an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// To enter a `synchronized` block.
    Monitor,
    /// In `Object.wait`.
    Notification,
    /// In `LockSupport.park`.
    Parked,
}

/// Parses a dump. Lines that are not understood are skipped.
pub fn parse(text: &str) -> Vec<Thread> {
    let mut threads: Vec<Thread> = vec![];
    for line in text.lines() {
        if line.starts_with('"') {
            if threads.len() == THREADS {
                break;
            }
            threads.extend(header(line));
            continue;
        }
        let Some(thread) = threads.last_mut() else { continue };
        let line = line.trim_start();
        if let Some(state) = line.strip_prefix("java.lang.Thread.State: ") {
            state.split(' ').next().unwrap_or_default().clone_into(&mut thread.state);
        } else if let Some(frame) = line.strip_prefix("at ") {
            if thread.frames.len() < FRAMES {
                thread.frames.extend(method(frame));
            }
        } else if let Some(note) = line.strip_prefix("- ") {
            add_note(thread, note);
        } else if line.starts_with("Carrying virtual thread") {
            thread.is_carrier = true;
        }
    }
    threads
}

/// Parses the first line of a thread: its name in quotation marks, then words with `=`.
fn header(line: &str) -> Option<Thread> {
    let (name, words) = line.strip_prefix('"')?.rsplit_once('"')?;
    let value = |key: &str| words.split_whitespace().find_map(|word| word.strip_prefix(key));
    // Up to JDK 18 hexadecimal, afterwards decimal.
    let number = value("nid=").and_then(|number| match number.strip_prefix("0x") {
        Some(hex) => i32::from_str_radix(hex, 16).ok(),
        None => number.parse().ok(),
    });
    let cpu_ms = value("cpu=")
        .and_then(|time| time.strip_suffix("ms")?.parse().ok())
        .filter(|ms| (0.0..=LONGEST_MS).contains(ms));
    Some(Thread { name: name.to_owned(), number: number.unwrap_or(0), cpu_ms, ..Thread::default() })
}

/// Parses a frame: `java.util.TimerThread.run(java.base@17.0.15/Timer.java:516)`.
fn method(frame: &str) -> Option<Method> {
    let (path, source) = frame.trim_end().strip_suffix(')')?.rsplit_once('(')?;
    let (class, name) = path.rsplit_once('.')?;
    let (module, source) = source.rsplit_once('/').unwrap_or(("", source));
    let (file, line) = match source.rsplit_once(':') {
        Some((file, line)) => (Some(file), line.parse().ok()),
        None => (Some(source).filter(|source| source.ends_with(".java") || source.ends_with(".kt")), None),
    };
    Some(Method {
        class: class.to_owned(),
        name: name.to_owned(),
        module: module.to_owned(),
        file: file.map(str::to_owned),
        line,
        is_native: source == "Native Method",
    })
}

/// Adds a line below a frame that tells of a monitor.
fn add_note(thread: &mut Thread, note: &str) {
    let after = |prefix: &str| note.strip_prefix(prefix).and_then(object);
    if let Some(object) = after("waiting to lock ").or_else(|| after("waiting to re-lock in wait() ")) {
        thread.waits = Some((Waits::Monitor, object));
    } else if let Some(object) = after("waiting on ") {
        thread.waits.get_or_insert((Waits::Notification, object));
    } else if let Some(object) = after("parking to wait for ") {
        thread.waits = Some((Waits::Parked, object));
    } else if let Some(object) = after("locked ")
        && thread.holds.len() < MONITORS
        && !thread.holds.contains(&object)
    {
        thread.holds.push(object);
    }
    // While a thread waits in `Object.wait`, it does not hold the monitor that it has entered before.
    if let Some((Waits::Notification | Waits::Monitor, object)) = &thread.waits {
        thread.holds.retain(|held| held != object);
    }
}

/// Parses an object: `<0x000000069d060ff8> (a java.lang.Object)`.
fn object(text: &str) -> Option<Object> {
    let (address, class) = text.trim_start().strip_prefix("<0x")?.split_once('>')?;
    let class = class.trim().strip_prefix("(a ").and_then(|class| class.strip_suffix(')')).unwrap_or_default();
    Some(Object { address: u64::from_str_radix(address, 16).ok()?, class: class.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = r#"2026-11-27 02:43:54
Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6-Debian-1deb12u1 mixed mode, sharing):

"pool-1-thread-7" #32 prio=5 os_prio=0 cpu=29.16ms elapsed=3.23s tid=0x00007fec5001d060 nid=0x6aea waiting on condition  [0x00007fec5effd000]
   java.lang.Thread.State: TIMED_WAITING (sleeping)
	at java.lang.Thread.sleep(java.base@17.0.15/Native Method)
	at shop.Orders.hold(Orders.java:10)
	at shop.Orders.locked(Orders.java:11)
	- locked <0x000000069d060ff8> (a java.lang.Object)
	at shop.Orders$$Lambda/0x000000005c158210.handle(Unknown Source)

"http "x"" #33 [29020] prio=5 os_prio=0 cpu=1027.17ms elapsed=3.23s tid=0x00007fec5001d060 nid=29020 waiting for monitor entry  [0x00007fec5effd000]
   java.lang.Thread.State: BLOCKED (on object monitor)
	at shop.Orders.locked(Orders.java:11)
	- waiting to lock <0x000000069d060ff8> (a java.lang.Object)

"Finalizer" #3 daemon prio=8 os_prio=0 cpu=0.14ms elapsed=5.70s tid=0x00007fe3d00f6c30 nid=0x6a86 in Object.wait()  [0x00007fe3a894d000]
   java.lang.Thread.State: WAITING (on object monitor)
	at java.lang.Object.wait(java.base@17.0.15/Native Method)
	- waiting on <0x00000006874002e8> (a java.lang.ref.ReferenceQueue$Lock)
	at java.lang.ref.ReferenceQueue.remove(java.base@17.0.15/ReferenceQueue.java:155)
	- locked <0x00000006874002e8> (a java.lang.ref.ReferenceQueue$Lock)

"GC Thread#0" os_prio=0 cpu=10.06ms elapsed=5.02s tid=0x00007feca8057990 nid=28884 runnable  

JNI global refs: 12, weak refs: 0
"#;

    #[test]
    fn threads_have_numbers_times_and_frames() {
        let threads = parse(DUMP);
        let facts: Vec<_> =
            threads.iter().map(|thread| (thread.name.as_str(), thread.number, thread.frames.len())).collect();
        assert_eq!(
            facts,
            [
                ("pool-1-thread-7", 0x6aea, 4),
                ("http \"x\"", 29020, 1),
                ("Finalizer", 0x6a86, 2),
                ("GC Thread#0", 28884, 0)
            ]
        );
        assert_eq!((threads[1].cpu_ms, threads[1].state.as_str()), (Some(1027.17), "BLOCKED"));
        let frame = &threads[0].frames[1];
        assert_eq!((frame.class.as_str(), frame.name.as_str(), frame.line), ("shop.Orders", "hold", Some(10)));
        assert_eq!((frame.file.as_deref(), frame.module.as_str()), (Some("Orders.java"), ""));
        let frame = &threads[0].frames[0];
        assert!(frame.is_native && frame.module == "java.base@17.0.15" && frame.file.is_none());
    }

    #[test]
    fn what_no_thread_has_is_not_believed() {
        for time in ["1e300", "-1", "inf", "NaN"] {
            let line = format!("\"x\" #1 cpu={time}ms nid=7 runnable");
            assert_eq!(parse(&line)[0].cpu_ms, None, "{time}");
        }
        let monitor = |number: usize| format!("\t- locked <0x{number:x}> (a x)\n");
        let dump = format!("\"x\" nid=7\n{}", (0..2 * MONITORS).map(monitor).collect::<String>());
        assert_eq!(parse(&dump)[0].holds.len(), MONITORS);
    }

    #[test]
    fn monitors_are_held_and_waited_for() {
        let threads = parse(DUMP);
        let lock = Object { address: 0x6_9d06_0ff8, class: "java.lang.Object".into() };
        assert_eq!(threads[0].holds, std::slice::from_ref(&lock));
        assert_eq!(threads[1].waits, Some((Waits::Monitor, lock)));
        assert!(matches!(threads[2].waits, Some((Waits::Notification, _))) && threads[2].holds.is_empty());
    }

    #[test]
    fn what_is_no_dump_has_no_threads() {
        assert!(parse("").is_empty());
        assert!(parse("\tat a.b.c(X)\n\"").is_empty());
        assert_eq!(
            parse("\"x\" nid=zz cpu=NaNms\n\tat broken\n\t- locked <0xzz>")[0],
            Thread { name: "x".into(), ..Thread::default() }
        );
    }
}
