//! A newer Debian in a folder of the cache, for editor versions that a stable system lacks.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::commands::{command, root, run};
use crate::tools::Tools;

const DEBOOTSTRAP: &str = "/usr/sbin/debootstrap";
const MIRROR: &str = "http://deb.debian.org/debian";
/// Debootstrap's script for all releases of today, also for those that are newer than debootstrap.
const SCRIPT: &str = "/usr/share/debootstrap/scripts/sid";
/// Root's PATH: a user's may lack the `sbin` folders.
const SYSTEM_PATH: &str = "/usr/bin:/bin:/usr/sbin:/sbin";
/// Where commands inside find the server.
const SERVER: &str = "/opt/hlo-analyzer";
/// Where commands inside find the checkout.
pub const CHECKOUT: &str = "/checkout";

pub struct Debian {
    folder: PathBuf,
}

impl Debian {
    /// The release in the cache with these packages; takes about a minute and a gigabyte, once.
    pub fn installed(tools: &Tools, release: &str, packages: &[&str]) -> Result<Debian> {
        let debian = Debian { folder: tools.cache().join(release) };
        let complete = debian.folder.join("installed");
        let wanted = packages.join("\n");
        let is_there = complete.is_file();
        if is_there && std::fs::read_to_string(&complete)? == wanted {
            return Ok(debian);
        }
        if !Path::new(DEBOOTSTRAP).is_file() {
            bail!("no {DEBOOTSTRAP} (Debian: apt-get install debootstrap); it is run as root");
        }
        // An existing folder with fewer packages only gets the missing ones.
        if !is_there {
            // What an interrupted installation left.
            if debian.folder.exists() {
                std::fs::remove_dir_all(&debian.folder)?;
            }
            let mut debootstrap =
                command(DEBOOTSTRAP, &["--variant=minbase", "--include=ca-certificates", release]);
            debootstrap.arg(&debian.folder).args([MIRROR, SCRIPT]);
            run(debootstrap.env("PATH", SYSTEM_PATH)).context("installing another Debian")?;
        }
        let mut install = debian.inside(&["apt-get", "install", "-q", "-y", "--no-install-recommends"]);
        run(install.args(packages).env("DEBIAN_FRONTEND", "noninteractive"))?;
        std::fs::write(&complete, wanted)?;
        Ok(debian)
    }

    /// Puts a server where commands inside find it.
    pub fn install_server(&self, server: &Path) -> Result<()> {
        let folder = self.folder.join(SERVER.trim_start_matches('/'));
        std::fs::create_dir_all(&folder)?;
        std::fs::copy(server, folder.join("hlo-analyzer"))
            .with_context(|| format!("there is no server at {}", server.display()))?;
        Ok(())
    }

    /// A path inside, as it is called outside.
    pub fn path(&self, inside: &str) -> PathBuf {
        self.folder.join(inside.trim_start_matches('/'))
    }

    /// A command in this Debian, with the server on its PATH and the checkout, read-only, as [`CHECKOUT`].
    ///
    /// The mounts end with the command. Helix finds its own folder by `/proc`, tmux needs `/dev/pts`.
    pub fn inside(&self, arguments: &[&str]) -> Command {
        let script = format!(
            "mkdir -p \"$0{CHECKOUT}\" && mount -t proc proc \"$0/proc\" && mount --rbind /dev \"$0/dev\" \
             && mount --bind \"$1\" \"$0{CHECKOUT}\" && mount -o remount,bind,ro \"$0{CHECKOUT}\" \
             && shift && exec /usr/sbin/chroot \"$0\" \"$@\""
        );
        let mut inside = command("unshare", &["--mount", "--propagation", "private", "sh", "-c", &script]);
        inside.arg(&self.folder).arg(root()).args(arguments);
        inside
            .env("PATH", format!("{SERVER}:{SYSTEM_PATH}"))
            .env("HOME", "/root")
            .env("TERM", "xterm-256color");
        inside
            .env("LANG", "C.UTF-8")
            .env("HLO_ANALYZER", format!("{SERVER}/hlo-analyzer"))
            .env_remove("TMPDIR");
        inside
    }
}
