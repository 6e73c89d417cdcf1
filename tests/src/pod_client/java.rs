//! The root filesystem of the Java program: the needed modules of this machine's JDK, the program's classes, and its libraries.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::root::{PodRoot, assemble, copy, require, run};
use super::shared_libraries::{copy_shared_libraries, shared_objects};
use crate::{folders, java};

/// The modules that the client uses (`jdeps`), and elliptic curves for TLS, which no class names.
const MODULES: &str = "java.base,java.logging,java.management,java.naming,java.sql,java.xml,jdk.crypto.ec,jdk.unsupported";

/// A small heap and few threads, and no file in the temporary folder.
const COMMAND: [&str; 7] = [
    "/java/bin/java",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
    "-Xmx64m",
    "--class-path=/app:/app/*",
    "Informer",
];

pub(super) fn root() -> Result<PodRoot> {
    let [jlink, javac, _mvn] = ["jlink", "javac", "mvn"].map(require);
    let (jlink, javac) = (jlink?, javac?);
    let sources = folders::java_sources().join("informer");
    let [project, program] = ["pom.xml", "Informer.java"].map(|name| sources.join(name));
    let version = run(Command::new(&javac).arg("-version"))?;
    let inputs = (version, fs::read(&project)?, fs::read(&program)?, MODULES);
    assemble("java", inputs, &COMMAND, |root| {
        let libraries = java::maven_libraries(&project)?.context("the libraries cannot be downloaded")?;
        copy(&libraries, &root.join("app"), &|_| true)?;
        run(Command::new(&javac).arg("-cp").arg(libraries.join("*")).arg("-d").arg(root.join("app")).arg(&program))?;
        link_runtime(&jlink, root)
    })
}

fn link_runtime(jlink: &Path, root: &Path) -> Result<()> {
    let runtime = root.join("java");
    let options = ["--strip-java-debug-attributes", "--no-header-files", "--no-man-pages", "--compress=2"];
    run(Command::new(jlink).args(options).args(["--add-modules", MODULES, "--output"]).arg(&runtime))?;
    // Licences, which are links to files of the machine.
    fs::remove_dir_all(runtime.join("legal"))?;
    let mut users = vec![runtime.join("bin/java")];
    shared_objects(&runtime.join("lib"), &mut users)?;
    copy_shared_libraries(&users, root)
}
