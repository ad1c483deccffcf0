//! Options of scripts: values, layers, validation.
