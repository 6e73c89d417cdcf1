//! A pseudo-terminal (pty(7)) that emulates the screen, so that a test can read its contents.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use crate::terminal::pseudo_terminal;

/// The master side of a terminal of 80×24 cells. While this value lives, the terminal does not hang up.
pub struct Screen {
    keyboard: File,
    program_side: OwnedFd,
    drawn: Receiver<Vec<u8>>,
    picture: vt100::Parser,
    limit: Duration,
}

impl Screen {
    /// Opens a terminal. Each wait may take up to `limit`.
    pub fn open(limit: Duration) -> Result<Self> {
        let (keyboard, program_side) = pseudo_terminal()?;
        let mut output = keyboard.try_clone()?;
        let (sender, drawn) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut bytes) {
                if sender.send(bytes[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        let mut screen = Self { keyboard, program_side, drawn, picture: vt100::Parser::default(), limit };
        screen.resize(80, 24)?;
        Ok(screen)
    }

    /// Starts a program as the leader of a session with this controlling terminal and all three standard streams on it.
    pub fn start(&self, command: &Command) -> Result<Child> {
        let mut leader = Command::new("setsid");
        leader.arg("--ctty").arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => leader.env(name, value),
                None => leader.env_remove(name),
            };
        }
        if let Some(folder) = command.get_current_dir() {
            leader.current_dir(folder);
        }
        let side = || self.program_side.try_clone();
        leader.stdin(side()?).stdout(side()?).stderr(side()?).spawn().context("cannot start a session")
    }

    /// Resizes the terminal.
    pub fn resize(&mut self, columns: u16, rows: u16) -> Result<()> {
        let (high, wide) = NonZero::new(rows).zip(NonZero::new(columns)).context("a terminal has rows and columns")?;
        self.picture.screen_mut().set_size(high, wide);
        Ok(tcsetwinsize(&self.keyboard, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 })?)
    }

    /// Sends keystrokes.
    pub fn press(&mut self, keys: &str) -> Result<()> {
        Ok(self.keyboard.write_all(keys.as_bytes())?)
    }

    /// Waits until the screen satisfies `is_there`, and returns it as text.
    pub fn wait_until(&mut self, what: &str, is_there: impl Fn(&vt100::Screen) -> bool) -> Result<String> {
        let until = Instant::now() + self.limit;
        while !is_there(self.picture.screen()) {
            let Ok(bytes) = self.drawn.recv_timeout(until.saturating_duration_since(Instant::now())) else {
                bail!("{what} did not come within {:?}:\n{}", self.limit, self.picture.screen().contents());
            };
            self.picture.process(&bytes);
        }
        Ok(self.picture.screen().contents())
    }

    /// Waits until the screen contains `text`, and returns it as text.
    pub fn wait_for(&mut self, text: &str) -> Result<String> {
        self.wait_until(text, |screen| screen.contents().contains(text))
    }

    /// Whether the terminal is in canonical mode with echo, as a shell leaves it for the programs that it starts.
    pub fn is_cooked(&self) -> Result<bool> {
        Ok(tcgetattr(&self.program_side)?.local_modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG))
    }

    /// All termios modes, as text.
    pub fn modes(&self) -> Result<String> {
        Ok(format!("{:?}", tcgetattr(&self.program_side)?))
    }
}
