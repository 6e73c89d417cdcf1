//! `watchtap exec --demo`: runs the command against a demo cluster in this process.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use observer_demo::story::Happening;
use observer_demo::{DemoConfig, DemoServer, Script, create_objects, populate, story};

use super::demo::script_file;
use super::demo_objects::{Objects, objects};
use crate::kubeconfig::{Environment, Kubeconfig, RunFolder};
use crate::printable::print_message;
use crate::session::{Session, private_folder};

/// The flags for a demo cluster.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct DemoFlags {
    /// Run the command against a demo cluster in this process, and play a script: `torture` (each bad behaviour of a cluster once) or
    /// a file (docs/demo.md). When the script is over, the command gets SIGTERM. Without a script, the cluster has no faults
    #[arg(long, value_name = "SCRIPT", num_args = 0..=1, default_missing_value = "quiet", value_parser = script, help_heading = "Demo cluster", conflicts_with_all = ["kubeconfig", "context", "upstream"])]
    demo: Option<Script>,

    /// Speed up the script, the demo API server's intervals and the pauses of the script's clients by this factor
    #[arg(long, value_name = "FACTOR", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100), requires = "demo", help_heading = "Demo cluster")]
    demo_speed: u32,

    /// Create the objects of this YAML or JSON file in the demo cluster before the command starts, such as custom resources and their
    /// definitions; may be given several times
    #[arg(long, value_name = "FILE", value_parser = objects, requires = "demo", help_heading = "Demo cluster")]
    demo_objects: Vec<Objects>,
}

/// Parses a script, or the name of one, for clap, which adds the flag to an error.
fn script(name: &str) -> Result<Script, String> {
    match name {
        "quiet" => Ok(Script::quiet()),
        "torture" => Script::torture().map_err(|error| error.to_string()),
        file => script_file(file),
    }
}

/// A demo cluster with its objects.
pub(super) struct DemoCluster {
    server: DemoServer,
    script: Script,
    speed: u32,
    kubeconfig: PathBuf,
    /// Holds the kubeconfig of the server.
    _folder: RunFolder,
}

impl DemoFlags {
    /// Starts the cluster; `None` without the flag.
    pub(super) async fn start(&self) -> Result<Option<DemoCluster>> {
        let Some(script) = self.demo.clone() else { return Ok(None) };
        let server = DemoServer::start(DemoConfig { speed: self.demo_speed, ..DemoConfig::default() })?;
        let folder = private_folder()?;
        let kubeconfig =
            folder.write("demo-kubeconfig", server.kubeconfig().as_bytes()).context("cannot write the demo's kubeconfig")?;
        populate(&kubeconfig).await?;
        let own = self.demo_objects.iter().flat_map(|file| file.0.clone()).collect();
        create_objects(&kubeconfig, own).await.context("cannot create the objects of --demo-objects")?;
        print_message(format!(
            "demo: a cluster in this process, at {}: no real API server, so without admission, validation and controllers",
            server.address()
        ));
        Ok(Some(DemoCluster { server, script, speed: self.demo_speed, kubeconfig, _folder: folder }))
    }
}

impl DemoCluster {
    /// The kubeconfig of the cluster.
    pub(super) fn kubeconfig(&self) -> Result<Kubeconfig> {
        let file = Some(OsString::from(&self.kubeconfig));
        Ok(Kubeconfig::load(&Environment { kubeconfig: file, home: None, working_directory: PathBuf::from("/") })?)
    }

    /// Plays the script, and notes its faults for the report of `session`. Returns when it is over; a script without an end is never
    /// over. The clients of the script are not observed.
    pub(super) async fn play(&self, session: &Session) -> Result<()> {
        let (handle, kubeconfig) = (self.server.handle(), self.kubeconfig.clone());
        let report = |happening: Happening<'_>| match happening {
            Happening::Message(text) => print_message(text),
            Happening::Fault { act, note } => session.note_fault(act, note),
        };
        story::play_once(&self.script, handle, kubeconfig, self.speed, report).await?;
        if !self.script.ends() {
            std::future::pending::<()>().await;
        }
        Ok(())
    }
}
