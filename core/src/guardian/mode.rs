//! Whether tools may run at all (spec §8.5; fail closed).

use crate::stored::stored_words;

stored_words! {
    /// What tslp as a whole is able to do, the strictest last: of several, the last counts.
    Mode, "mode" {
        /// Everything works.
        Ready = "READY",
        /// No model answers; notes, adopting and diagnostics work.
        NoAiProvider = "NO_AI_PROVIDER",
        /// The sandbox and the profile are being checked.
        Attest = "ATTEST",
        /// Nothing was checked yet.
        Boot = "BOOT",
        /// No tools; chat goes on.
        SafeMode = "SAFE_MODE",
        /// Evidence is kept as it is: nothing runs and nothing is granted.
        OpPreserve = "OP_PRESERVE",
    }
}
