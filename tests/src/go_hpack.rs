//! Generates HPACK header blocks with the encoder of Go's HTTP/2.

use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::folders;
use crate::go_build::GoProgram;

/// One header block; see `tests/cluster/go/hpack/main.go`.
#[derive(Debug)]
pub struct GoBlock {
    /// Blocks with the same number share one encoder.
    pub connection: u64,
    /// The `SETTINGS_HEADER_TABLE_SIZE` that the encoder uses.
    pub limit: u32,
    /// Names and values.
    pub fields: Vec<(Vec<u8>, Vec<u8>)>,
    /// The encoded block.
    pub encoded: Vec<u8>,
}

/// Generates `count` random header blocks. The same seed gives the same blocks.
pub fn go_blocks(seed: u32, count: u32) -> Result<Vec<GoBlock>> {
    let program = GoProgram {
        name: "hpack",
        folder: &folders::go_sources().join("hpack"),
        module_file: "go.mod",
        version: "0.47.0",
        link_flags: "",
        first_build_takes: "some seconds",
    };
    let binary = program.build(&folders::cluster_cache())?;
    let output = Command::new(&binary).args([seed.to_string(), count.to_string()]).output();
    let output = output.with_context(|| format!("cannot run {}", binary.display()))?;
    if !output.status.success() {
        bail!("{} failed:\n{}", binary.display(), String::from_utf8_lossy(&output.stderr));
    }
    let blocks = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    blocks.map(|line| GoBlock::read(line).context("the output of the Go program hpack")).collect()
}

impl GoBlock {
    fn read(line: &[u8]) -> Result<Self> {
        let block: Value = serde_json::from_slice(line)?;
        let fields = block["fields"].as_array().context("no fields")?;
        Ok(Self {
            connection: block["connection"].as_u64().context("no connection")?,
            limit: block["limit"].as_u64().context("no limit")?.try_into()?,
            fields: fields.iter().map(|field| Ok((bytes(&field[0])?, bytes(&field[1])?))).collect::<Result<_>>()?,
            encoded: bytes(&block["encoded"])?,
        })
    }
}

fn bytes(hexadecimal: &Value) -> Result<Vec<u8>> {
    let digits = hexadecimal.as_str().context("no text")?.as_bytes();
    digits.chunks(2).map(|pair| Ok(u8::from_str_radix(str::from_utf8(pair)?, 16)?)).collect()
}
