//! The certificate authority of the pod. It outlives the sidecar's container: clients read `ca.crt` once, so after a restart of the
//! container they trust the authority of the former one only.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime};

use anyhow::Result;
use rustix::fs::Mode;
use rustix::process::geteuid;

use super::folder::Folder;
use crate::printable::print_message;
use observer_pki::PrivateAuthority;

/// The file with the certificate and its key.
const FILE: &str = "ca.pem";
const PRIVATE: Mode = Mode::from_bits_retain(0o600);
/// The permission bits of a file's group and of all other users.
const OF_OTHERS: u32 = 0o077;
/// Maximum size of the file in bytes. It takes about 1 KiB.
const MOST: u64 = 16 << 10;

/// How long a new authority is valid. A pod rarely lives for more than some months.
const VALID: Duration = Duration::from_hours(10 * 365 * 24);
/// A stored authority that ends earlier is replaced.
const LEAST: Duration = Duration::from_hours(365 * 24);

/// The authority in the sidecar's own folder. If there is none that can be used, a new one is stored there.
pub(in crate::session) fn kept_authority(own: &Folder, now: SystemTime) -> Result<PrivateAuthority> {
    match read(own, now) {
        Ok(Some(authority)) => return Ok(authority),
        Ok(None) => {}
        Err(why) => print_message(format!(
            "{} is replaced by a new certificate authority: {why}. Clients that have read ca.crt before fail until their container restarts",
            own.path_of(FILE).display()
        )),
    }
    let authority = PrivateAuthority::generate_for(VALID, now)?;
    own.write(FILE, authority.to_pem().as_bytes(), PRIVATE)?;
    Ok(authority)
}

fn read(own: &Folder, now: SystemTime) -> Result<Option<PrivateAuthority>, String> {
    let Some((file, pem)) = own.read(FILE, MOST).map_err(|error| error.to_string())? else { return Ok(None) };
    judge(&file, geteuid().as_raw())?;
    PrivateAuthority::from_pem(&pem, now, LEAST).map(Some).map_err(|error| error.to_string())
}

/// A key that others could read or replace may be known to them.
fn judge(file: &Metadata, ours: u32) -> Result<(), String> {
    if file.uid() != ours {
        return Err(format!("it belongs to another user (uid {})", file.uid()));
    }
    if file.mode() & OF_OTHERS != 0 {
        return Err(format!("it has the mode {:04o}, so others can read it", file.mode() & 0o7777));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn folder() -> (tempfile::TempDir, Folder) {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::open(temporary.path(), "for a test").unwrap();
        (temporary, folder)
    }

    #[test]
    fn authority_outlives_restarts_in_a_file_that_only_we_can_read() {
        let (temporary, folder) = folder();
        let now = SystemTime::now();
        let first = kept_authority(&folder, now).unwrap();
        let day = Duration::from_hours(24);
        // The clock may be wrong at either start.
        for later in [now, now + 365 * day, now - 365 * day, now + Duration::from_hours(1)] {
            assert_eq!(kept_authority(&folder, later).unwrap().to_pem(), first.to_pem());
        }
        let file = fs::metadata(temporary.path().join(FILE)).unwrap();
        assert_eq!((file.mode() & 0o7777, file.uid()), (0o600, geteuid().as_raw()));
    }

    #[test]
    fn unusable_authority_is_replaced() {
        let (temporary, folder) = folder();
        let path = temporary.path().join(FILE);
        let now = SystemTime::now();
        let former = kept_authority(&folder, now).unwrap().to_pem();
        let ends = now + VALID - LEAST / 2;
        assert_ne!(kept_authority(&folder, ends).unwrap().to_pem(), former, "it ends soon");
        let spoil: [(&str, &dyn Fn()); 3] = [
            ("cut off", &|| fs::write(&path, &former[..former.len() / 2]).unwrap()),
            ("empty", &|| fs::write(&path, "").unwrap()),
            ("open to others", &|| fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap()),
        ];
        for (what, spoil) in spoil {
            let kept = kept_authority(&folder, now).unwrap().to_pem();
            spoil();
            let new = kept_authority(&folder, now).unwrap().to_pem();
            assert_ne!(new, kept, "{what}");
            assert_eq!(kept_authority(&folder, now).unwrap().to_pem(), new, "{what}");
        }
    }

    #[test]
    fn authority_of_another_user_is_refused() {
        let (temporary, _folder) = folder();
        let path = temporary.path().join(FILE);
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let file = fs::metadata(&path).unwrap();
        judge(&file, file.uid()).unwrap();
        assert!(judge(&file, file.uid() + 1).unwrap_err().contains("another user"));
    }
}
