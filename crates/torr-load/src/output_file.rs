//! The kinds of files that a run writes.

/// The content of a file that a run writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutputFile {
    /// The result.
    Json,
    /// The series.
    Csv,
    /// The entries of hurl files.
    CsvEntries,
    /// The interval log, which is written during the run.
    Hlog,
    /// The figures for Prometheus.
    Prometheus,
    /// Checks and thresholds.
    Junit,
    /// The page.
    Report,
}

impl OutputFile {
    /// Returns the flag that names the file.
    pub const fn flag(self) -> &'static str {
        match self {
            Self::Json => "--json",
            Self::Csv => "--csv",
            Self::CsvEntries => "--csv-entries",
            Self::Hlog => "--hlog",
            Self::Prometheus => "--prometheus",
            Self::Junit => "--junit",
            Self::Report => "--report",
        }
    }

    /// Returns the name of the setting.
    pub const fn name(self) -> &'static str {
        self.flag().split_at("--".len()).1
    }
}
