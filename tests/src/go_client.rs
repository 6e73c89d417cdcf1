//! Builds Go programs of the tests: `client` uses an API server as client-go does, and `controllers` runs several controllers. `late` keeps
//! one HTTP/2 connection open, and `first` sends requests soon after its start. `informer` is for pods. `workload` and `trivial` are for pods whose start and traffic are measured. `collector`
//! is an OpenTelemetry Collector.

use std::path::PathBuf;

use anyhow::Result;

use crate::binaries::required_version;
use crate::folders;
use crate::go_build::GoProgram;

/// Builds `client` unless this machine has it. It needs Go and takes a minute or two.
pub fn go_client() -> Result<PathBuf> {
    build("client", "k8s.io/client-go", "one or two minutes")
}

/// Builds `controllers` unless this machine has it. It needs Go and takes a minute or two.
pub fn go_controllers() -> Result<PathBuf> {
    build("controllers", "sigs.k8s.io/controller-runtime", "one or two minutes")
}

/// Builds `late` unless this machine has it. It needs Go and takes seconds.
pub fn go_late_client() -> Result<PathBuf> {
    build("late", "golang.org/x/net", "some seconds")
}

/// Builds `informer` unless this machine has it. It needs Go and takes a minute or two.
pub(crate) fn go_informer() -> Result<PathBuf> {
    build("informer", "k8s.io/client-go", "one or two minutes")
}

/// Builds `workload` unless this machine has it. It needs Go and takes a minute or two.
pub fn go_workload() -> Result<PathBuf> {
    build("workload", "k8s.io/client-go", "one or two minutes")
}

/// Builds `trivial` unless this machine has it. It needs Go and takes seconds.
pub fn go_trivial() -> Result<PathBuf> {
    without_modules("trivial")
}

/// Builds `first` unless this machine has it. It needs Go and takes seconds.
pub fn go_first_client() -> Result<PathBuf> {
    without_modules("first")
}

/// Builds the program in a folder of this name, which uses nothing but Go's standard library.
pub(crate) fn without_modules(name: &'static str) -> Result<PathBuf> {
    let folder = folders::go_sources().join(name);
    let program =
        GoProgram { name, folder: &folder, module_file: "go.mod", version: "1", link_flags: "", first_build_takes: "some seconds" };
    program.build(&folders::cluster_cache())
}

/// Builds `collector` unless this machine has it. It needs Go and takes a minute or two.
pub(crate) fn go_collector() -> Result<PathBuf> {
    build("collector", "go.opentelemetry.io/collector/otelcol", "one or two minutes")
}

/// Builds the program in a folder of this name, whose version is that of `module`.
fn build(name: &'static str, module: &str, first_build_takes: &'static str) -> Result<PathBuf> {
    let folder = folders::go_sources().join(name);
    let program = GoProgram {
        name,
        folder: &folder,
        module_file: "go.mod",
        version: &required_version(&folder.join("go.mod"), module)?,
        link_flags: "",
        first_build_takes,
    };
    program.build(&folders::cluster_cache())
}
