//! The root filesystem of the Python program: the interpreter of this machine, its standard library, and the client.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::root::{PodRoot, assemble, copy, require, run};
use super::shared_libraries::{copy_shared_libraries, shared_objects};
use crate::{folders, python};

/// The interpreter finds its standard library by the relative path `../lib/python3.X`. `-E` and `-s`: it ignores its environment and
/// the packages of its user. It finds the client beside the program.
const COMMAND: [&str; 4] = ["/python/bin/python3", "-E", "-s", "/app/informer.py"];

/// The interpreter that `python3` runs.
#[derive(Debug)]
struct Interpreter {
    executable: PathBuf,
    standard_library: PathBuf,
    version: String,
}

/// Prints the members of [`Interpreter`]. `python3` may be a script that chooses an interpreter.
const DESCRIBE: &str = "
import os, platform, sys, sysconfig
print(os.path.realpath(sys.executable), sysconfig.get_path('stdlib'), platform.python_version(), sep='\\n')
";

/// Compiles the modules that the program loads: a container cannot store compiled modules in a read-only folder, and the start without
/// them takes seconds. `UNCHECKED_HASH`: the times of files change on their way into an image.
const COMPILE: &str = "
import importlib.metadata, py_compile, sys
from kubernetes import client, config, watch
client.CoreV1Api, client.V1ConfigMapList, client.V1ConfigMap, client.V1ObjectMeta, client.V1ManagedFieldsEntry, client.V1ListMeta
for module in list(sys.modules.values()):
    source = getattr(module, '__file__', None) or ''
    if source.endswith('.py'):
        py_compile.compile(source, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH, doraise=True)
";

/// Parts of the standard library that this program does not need. `_tkinter` needs libraries for displays.
const UNNEEDED: [&str; 11] = [
    "__pycache__",
    "_tkinter",
    "ensurepip",
    "idlelib",
    "lib2to3",
    "pydoc_data",
    "site-packages",
    "test",
    "tests",
    "tkinter",
    "turtledemo",
];

/// The part of the client for asyncio, which is half of it, and its libraries.
const UNNEEDED_OF_CLIENT: [&str; 3] = ["__pycache__", "aio", "aiohttp"];

pub(super) fn root() -> Result<PodRoot> {
    let python3 = require("python3")?;
    let described = String::from_utf8(run(Command::new(python3).args(["-c", DESCRIBE]))?)?;
    let mut lines = described.lines().map(str::to_owned);
    let mut next = || lines.next().with_context(|| format!("python3 printed {described:?}"));
    let interpreter = Interpreter { executable: next()?.into(), standard_library: next()?.into(), version: next()? };
    let program = folders::python_sources().join("informer.py");
    let inputs = (&interpreter.version, python::CLIENT, fs::read(&program)?);
    assemble("python", inputs, &COMMAND, |root| fill(root, &interpreter, &program))
}

fn fill(root: &Path, interpreter: &Interpreter, program: &Path) -> Result<()> {
    let Some(packages) = python::python_packages()? else { bail!("{} cannot be downloaded", python::CLIENT) };
    copy(program, &root.join("app/informer.py"), &|_| true)?;
    copy(&packages, &root.join("app"), &|path| !is_named(path, &UNNEEDED_OF_CLIENT))?;

    let executable = root.join("python/bin/python3");
    copy(&interpreter.executable, &executable, &|_| true)?;
    let name = interpreter.standard_library.file_name().context("the standard library has a name")?;
    let library = root.join("python/lib").join(name);
    let is_config = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("config-"));
    copy(&interpreter.standard_library, &library, &|path| !is_named(path, &UNNEEDED) && !is_config(path))?;

    let mut users = vec![executable];
    shared_objects(&library, &mut users)?;
    shared_objects(&root.join("app"), &mut users)?;
    copy_shared_libraries(&users, root)?;
    run(Command::new(root.join("python/bin/python3")).args(["-E", "-s", "-c", COMPILE]).current_dir(root.join("app"))).map(drop)
}

/// Whether the name of a file or a folder, without its extensions, is one of these.
fn is_named(path: &Path, names: &[&str]) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().is_some_and(|name| names.contains(&name))
}
