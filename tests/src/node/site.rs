//! The place where the parts of a node run: its folder, settings, programs, namespaces and cgroups.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::image::Image;
use super::isolation::{Isolation, Part};
use super::leavings::Leavings;
use super::settings::{self, Settings};
use super::{build, cgroups};
use crate::binaries::{Binaries, EtcdRelease, Minor};
use crate::bounded::output_within;
use crate::client::{Client, Connections};
use crate::programs;
use crate::run_folder::RunFolder;

const READY_WITHIN: Duration = Duration::from_mins(2);
const IMPORTED_WITHIN: Duration = Duration::from_mins(2);

/// The parts of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    Etcd,
    ApiServer,
    Containerd,
    ControllerManager,
    Scheduler,
    Kubelet,
}

impl Program {
    const fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::ApiServer => "kube-apiserver",
            Self::Containerd => "containerd",
            Self::ControllerManager => "kube-controller-manager",
            Self::Scheduler => "kube-scheduler",
            Self::Kubelet => "kubelet",
        }
    }
}

/// A place for one node. Drop it after the parts.
#[derive(Debug)]
pub(super) struct Site {
    // Fields are dropped in this order: the files and cgroups after all processes.
    pub(super) isolation: Isolation,
    pub(super) leavings: Leavings,
    pub(super) settings: Settings,
    /// A client of a member of `system:masters`, for use in the node's network.
    pub(super) client: Client,
    servers: Binaries,
    pause: PathBuf,
    /// The kubelet, kube-controller-manager or kube-scheduler, depending on the name of a link to it.
    node: PathBuf,
    pub(super) folder: RunFolder,
}

impl Site {
    /// Builds what is missing, and creates the place.
    pub(super) fn prepare() -> Result<Self> {
        let servers = Binaries::of_minor(Minor::DEFAULT, EtcdRelease::Current)?;
        let (node, pause) = (build::node()?, build::pause()?);
        let folder = RunFolder::create()?;
        let cgroup = cgroups::create()?;
        let leavings = Leavings::remove_after_end(&cgroup, folder.path())?;
        let settings = Settings::write(&folder, &cgroup)?;
        let isolation = Isolation::create(&folder, &pause, &[settings::ADDRESS, settings::SERVICE])?;
        let (server, token) = (settings::server_url(), settings::admin_token());
        let client = Client::with_token(&server, &settings.authority, &token, Connections::PerRequest)?;
        Ok(Self { isolation, leavings, settings, client, servers, pause, node, folder })
    }

    /// Starts a part. It appends to its log.
    pub(super) fn start(&self, program: Program) -> Result<Part> {
        let file = match program {
            Program::Etcd => self.servers.etcd.clone(),
            Program::ApiServer => self.servers.api_server.clone(),
            Program::Containerd => programs::require("containerd", "for real containers")?,
            Program::ControllerManager | Program::Scheduler | Program::Kubelet => self.link(program)?,
        };
        let flags = match program {
            Program::Etcd => self.settings.etcd_flags(),
            Program::ApiServer => self.settings.api_server_flags(),
            Program::Containerd => self.settings.containerd_flags(),
            Program::ControllerManager => self.settings.controller_manager_flags(),
            Program::Scheduler => self.settings.scheduler_flags(),
            Program::Kubelet => self.settings.kubelet_flags(),
        };
        self.isolation.start(program.name(), &file, &flags, self.log(program.name()))
    }

    /// Path of the log of the part with this name.
    pub(super) fn log(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.log"))
    }

    fn link(&self, program: Program) -> Result<PathBuf> {
        let links = self.folder.path().join("programs");
        fs::create_dir_all(&links)?;
        let link = links.join(program.name());
        if !link.is_symlink() {
            symlink(&self.node, &link).with_context(|| format!("cannot create {}", link.display()))?;
        }
        Ok(link)
    }

    /// Waits until the API server answers that it is ready.
    pub(super) fn wait_for_api_server(&self, api_server: &mut Part) -> Result<()> {
        api_server.wait_until(READY_WITHIN, || self.isolation.in_network(|| self.client.get("/readyz")).is_ok())
    }

    /// Waits until images can be imported, and imports that of the first process of each pod.
    pub(super) fn wait_for_containerd(&self, containerd: &mut Part) -> Result<()> {
        containerd.wait_until(READY_WITHIN, || self.containerd(&["version"]).is_ok())?;
        self.import(&Image::new(settings::PAUSE).copy(&self.pause, "/pause").entrypoint(&["/pause"]))
    }

    /// Makes an image available to pods.
    pub(super) fn import(&self, image: &Image) -> Result<()> {
        let archive = tempfile::Builder::new().suffix(".tar").tempfile_in(self.folder.path())?;
        image.write(archive.path())?;
        self.containerd(&["images", "import", &archive.path().display().to_string()])
    }

    /// Makes the image in the folder of an OCI layout available to pods under this name.
    pub(super) fn import_layout(&self, layout: &Path, name: &str) -> Result<()> {
        let archive = tempfile::Builder::new().suffix(".tar").tempfile_in(self.folder.path())?;
        let mut builder = tar::Builder::new(archive.as_file());
        builder.append_dir_all("", layout).with_context(|| format!("cannot read {}", layout.display()))?;
        builder.finish()?;
        self.containerd(&["images", "import", "--index-name", name, &archive.path().display().to_string()])
    }

    /// Calls containerd; its namespace `k8s.io` is the kubelet's.
    fn containerd(&self, arguments: &[&str]) -> Result<()> {
        let ctr = programs::require("ctr", "to import images")?;
        let mut command = self.isolation.command(&ctr)?;
        let output = output_within(command.args(["--namespace", "k8s.io"]).args(arguments), IMPORTED_WITHIN)?;
        ensure!(output.status.success(), "ctr {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }
}
