//! The CPU time that a run's two sides use within an interval.

use crate::Host;
use crate::generator::round3;
use torr_signals::Signals;

/// The CPU time used within an interval. Times add up, so that neighbouring intervals can be merged.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CpuUse {
    /// The length of the interval in seconds.
    pub seconds: f64,
    /// The CPU time of the generator's process in seconds.
    pub generator_s: f64,
    /// The CPU time of the server's machine; `None` where the server's processes are not visible.
    pub server: Option<ServerCpu>,
}

/// The CPU time of the server's machine within an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ServerCpu {
    /// The CPU time of the server's processes in seconds.
    pub server_s: f64,
    /// The used share of the machine's CPU time, times the seconds of the interval.
    pub share_s: f64,
    /// The share of it that the hypervisor has stolen, times the seconds of the interval; 0 where the kernel does not report it.
    pub stolen_s: f64,
}

impl CpuUse {
    /// Returns the use of an interval of this length, in which the generator used `generator_s` seconds.
    pub fn new(seconds: f64, generator_s: f64, signals: Option<&Signals>) -> Self {
        let server = signals.and_then(Host::of).map(|host| ServerCpu {
            server_s: host.server_cores * seconds,
            share_s: host.cpu_share * seconds,
            stolen_s: host.steal_share.unwrap_or(0.0) * seconds,
        });
        Self { seconds, generator_s, server }
    }

    /// Adds the use of the interval that follows. The server's is known where it is known of both.
    pub fn add(&mut self, later: &Self) {
        self.seconds += later.seconds;
        self.generator_s += later.generator_s;
        self.server = self.server.zip(later.server).map(|(one, other)| ServerCpu {
            server_s: one.server_s + other.server_s,
            share_s: one.share_s + other.share_s,
            stolen_s: one.stolen_s + other.stolen_s,
        });
    }

    /// Returns the generator's CPU time in cores; `None` for an interval without length.
    pub fn generator_cores(&self) -> Option<f64> {
        self.per_second(self.generator_s)
    }

    /// Returns the server's CPU time in cores.
    pub fn server_cores(&self) -> Option<f64> {
        self.per_second(self.server?.server_s)
    }

    /// Returns the used share of the server's machine, 0 to 1.
    pub fn cpu_share(&self) -> Option<f64> {
        self.per_second(self.server?.share_s)
    }

    /// Returns the share of the server's machine that the hypervisor has stolen, 0 to 1; `None` if nothing was stolen.
    pub fn stolen_share(&self) -> Option<f64> {
        self.per_second(self.server?.stolen_s).filter(|share| *share > 0.0)
    }

    fn per_second(&self, seconds: f64) -> Option<f64> {
        (self.seconds > 0.0).then(|| round3(seconds / self.seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_merged_by_their_times() {
        let part = |seconds, cores: f64, server: Option<f64>| CpuUse {
            seconds,
            generator_s: cores * seconds,
            server: server.map(|cores| ServerCpu {
                server_s: cores * seconds,
                share_s: 0.5 * seconds,
                stolen_s: 0.1 * seconds,
            }),
        };
        let mut both = part(1.0, 1.0, Some(2.0));
        both.add(&part(3.0, 0.2, Some(1.0)));
        assert_eq!((both.generator_cores(), both.server_cores(), both.cpu_share()), (Some(0.4), Some(1.25), Some(0.5)));
        assert_eq!(both.stolen_share(), Some(0.1));
        both.add(&part(1.0, 0.0, None));
        assert_eq!((both.server_cores(), both.cpu_share()), (None, None));
        assert_eq!(CpuUse::default().generator_cores(), None);
    }
}
