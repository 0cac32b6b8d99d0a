//! A ledger of another format is refused untouched.

use tslp_migrations::schema::FORMAT_VERSION;

use super::*;
use crate::ledger::reader::ReaderFactory;

impl Fixture {
    fn set_version(&self, version: i64) {
        let shell = self.shell();
        shell.pragma_update(None, "user_version", version).unwrap();
    }
}

#[test]
fn other_format_untouched() {
    for version in [
        0,
        FORMAT_VERSION - 1,
        FORMAT_VERSION + 1,
        i64::from(i32::MIN),
    ] {
        for cut in [false, true] {
            let fixture = Fixture::new();
            fixture.filled(2);
            fixture.set_version(version);
            if cut {
                let cut = "PRAGMA wal_checkpoint(TRUNCATE)";
                let shell = fixture.shell();
                shell.query_row(cut, [], |_| Ok(())).unwrap();
            }
            let before = fixture.evidence();
            let names = fixture.names();
            let error = fixture.refused();
            assert!(
                matches!(error, LedgerError::OtherFormat { found, .. } if found == version),
                "{error:?}"
            );
            assert!(!error.asks_for_safe_mode() && error.is_other_version());
            for words in [
                "another version of tslp",
                &format!("in format {version}, and was left untouched"),
                &format!("reads format {FORMAT_VERSION}"),
                "use the one that wrote it, or begin a new ledger in another data directory",
            ] {
                assert!(error.to_string().contains(words), "{words}: {error}");
            }
            // Those who only read say the same.
            let readers = ReaderFactory::new(&fixture.files(), &fixture.options);
            let Err(error) = readers.open() else {
                panic!("read by another version");
            };
            assert!(error.is_other_version(), "{error:?}");
            assert!(before == fixture.evidence(), "evidence was changed");
            assert_eq!(names, fixture.names());
            fixture.set_version(FORMAT_VERSION);
            assert_eq!(verified(&fixture.open().log).seq, Seq(2));
        }
    }
}
