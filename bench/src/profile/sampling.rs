//! Sampling a service while it is pressed: `perf record` around the load generator, and `perf report` read strictly.

use std::path::Path;
use std::process::{Command, Stdio};

use torr_test_support::error::Error;

/// Samples per second of CPU time. Not a round number, so that it does not keep step with what happens every millisecond.
pub const FREQUENCY: u32 = 1999;

/// What was sampled.
pub struct Sampled {
    /// What perf counted to know when to look: cycles, or where there is no counter for them, time.
    pub event: String,
    /// The functions that were found at work.
    pub functions: Vec<Function>,
}

/// One function.
pub struct Function {
    /// How often it was found at work.
    pub samples: u64,
    /// How much that counts, in units of the event.
    pub weight: u64,
    /// The program or library that it is in.
    pub file: String,
    /// It is in the kernel.
    pub in_kernel: bool,
    /// Its name, as the linker has it.
    pub symbol: String,
}

/// The arguments with which perf runs a program and meanwhile samples all threads of a process: so it samples from the
/// program's start to its end, and needs no wait until it is ready.
pub fn around(pid: u32, file: &Path, program: &str, arguments: Vec<String>) -> Vec<String> {
    // -N: what is measured is not to be copied into a store in the home folder.
    let own = format!("record -q -N -F {FREQUENCY} -p {pid} -o");
    let own = own.split(' ').map(str::to_owned);
    own.chain([file.to_string_lossy().into_owned(), "--".into(), program.into()]).chain(arguments).collect()
}

/// What perf has written into a file.
pub fn read(perf: &str, file: &Path) -> Result<Sampled, Error> {
    let words = "report --stdio --no-children --no-demangle -g none -F sample,period,dso,symbol -t \t -i";
    let mut command = Command::new(perf);
    let out = command.args(words.split(' ')).arg(file).stdin(Stdio::null()).output();
    let out = out.map_err(Error::at("cannot run perf report"))?;
    if !out.status.success() {
        let said = String::from_utf8_lossy(&out.stderr);
        return Err(Error::failed(format!("perf report failed: {}", said.lines().last().unwrap_or("it said nothing"))));
    }
    parse(&String::from_utf8_lossy(&out.stdout))
}

/// Reads the report; an error names the line that is not as it should be.
fn parse(text: &str) -> Result<Sampled, Error> {
    let event = text.lines().find_map(|line| line.strip_prefix("# Samples: ")?.split_once("event '"));
    let event = event.and_then(|(_, name)| name.split(['\'', ':']).next()).unwrap_or_default().to_owned();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let functions = lines.map(|line| {
        function(line).ok_or_else(|| Error::failed(format!("perf report has a line of another form: {line}")))
    });
    let functions = functions.collect::<Result<Vec<_>, _>>()?;
    match event.is_empty() || functions.is_empty() {
        true => Err(Error::failed("perf has sampled nothing")),
        false => Ok(Sampled { event, functions }),
    }
}

fn function(line: &str) -> Option<Function> {
    let fields: Vec<&str> = line.split('\t').map(str::trim).collect();
    let [samples, weight, file, name] = fields[..] else { return None };
    let (level, symbol) = name.split_once(' ')?;
    let in_kernel = match level {
        "[k]" => true,
        "[.]" => false,
        _ => return None,
    };
    let (file, symbol) = (file.to_owned(), symbol.trim().to_owned());
    Some(Function { samples: samples.parse().ok()?, weight: weight.parse().ok()?, file, in_kernel, symbol })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "# Total Lost Samples: 0\n#\n# Samples: 3K of event 'cpu-clock:pppH'\n# Event count (approx.): 9\n#\n\
                          # Samples\tPeriod\tShared Object\tSymbol\n#\n\
                          1200\t600300150\ttorr\t[.] sqlite3VdbeExec\n7\t3501750\t[kernel.kallsyms]\t[k] tcp_sendmsg\n\n";

    #[test]
    fn a_report_is_read() {
        let sampled = parse(REPORT).expect("it is a report");
        assert_eq!(sampled.event, "cpu-clock");
        let read = |f: &Function| (f.samples, f.weight, f.file.clone(), f.in_kernel, f.symbol.clone());
        assert_eq!(read(&sampled.functions[0]), (1200, 600_300_150, "torr".into(), false, "sqlite3VdbeExec".into()));
        assert_eq!(read(&sampled.functions[1]), (7, 3_501_750, "[kernel.kallsyms]".into(), true, "tcp_sendmsg".into()));
    }

    #[test]
    fn another_form_is_refused() {
        for wrong in [REPORT.replace("1200", "12%"), REPORT.replace("[k] ", ""), REPORT.replace("\ttorr", "")] {
            let message = parse(&wrong).err().expect("it is refused").to_string();
            assert!(message.starts_with("perf report has a line of another form: "), "{message}");
        }
        assert!(parse("#\n").is_err());
    }
}
