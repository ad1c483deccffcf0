//! Modules of scripts: resolution, files, remote sources, TypeScript, CommonJS.
