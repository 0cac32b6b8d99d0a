//! Every bound of the engine in one place, each with the reason for its number.

/// Longest path that is taken for a path; aider's own rule for a file name line.
pub const PATH_BYTES_MAX: usize = 250;

/// Longest text that is parsed at once; of a longer one pieces are. Trees take about 18 times the source, so this keeps a parse near 20 MB.
pub const PARSE_BYTES_MAX: usize = 1 << 20;

/// Blocks looked at in one message; a message with more is recorded, the rest of it is not captured.
pub const BLOCKS_PER_MESSAGE_MAX: usize = 512;

/// Bytes of unfenced text of one message that are parsed to see whether they are code: what people paste by hand is shorter.
pub const UNFENCED_BYTES_MAX: usize = 256 << 10;

/// Most parses that are tried on the unfenced text of one message.
pub const UNFENCED_TRIES_MAX: usize = 64;

/// Tracked definitions of one name that code without a path is compared with.
pub const CORRELATION_NAMESAKES_MAX: usize = 64;

/// Least share of the former definition's nodes and tokens, in percent: less is a collapse. A change that halves a definition on
/// purpose is rare, and the user can confirm it (spec §7).
pub const PARITY_PERCENT: u8 = 50;

/// Least share of a known definition's words, in percent, that code without a path must hold to be linked to it.
pub const CORRELATION_PERCENT: u8 = 50;

/// Least similarity of a new symbol to a missing one, in percent, that makes a rename suspected: what a rename leaves of a short
/// function, and more than two functions of one style share.
pub const RENAME_PERCENT: u8 = 80;

/// Definitions taken from one block; more is generated code that nobody edits by chat.
pub const DEFINITIONS_PER_BLOCK_MAX: usize = 20_000;

/// User and assistant pairs in the Recent Context window (spec §8.4).
pub const RECENT_PAIRS: usize = 4;

/// Bytes of one message in the Recent Context window (spec §8.4).
pub const RECENT_MESSAGE_BYTES_MAX: usize = 4096;

/// Episodes after which a tombstone leaves its projection unless the policy says otherwise (spec §9.2); the bytes stay in
/// the Vault.
pub const TOMBSTONE_EPISODES_DEFAULT: u32 = 10;

/// The most that can be set: every tombstone is looked at in every prompt.
pub const TOMBSTONE_EPISODES_MAX: u32 = 10_000;

/// Sessions whose transcripts are held ready for being continued; an older one goes on as a new session.
pub const SESSIONS_KEPT: usize = 256;

/// Episodes that `/recent` can list.
pub const RECENT_EPISODES_KEPT: usize = 1000;

/// Episodes that `/recent` lists unless it is asked for another number: what fits on a screen.
pub const RECENT_EPISODES_SHOWN: usize = 20;

/// Episodes whose calls of tools are known, of those that made any: a reply needs its own, people the last ones.
pub const TOOL_EPISODES_KEPT: usize = 64;

/// Older versions of one entity that a disk's content, and code in older messages, is recognised as.
pub const SUPERSEDED_KEPT: usize = 16;

/// Proposals held open for one entity; an older one stays in the ledger alone.
pub const PROPOSALS_PER_ENTITY_MAX: usize = 4;

/// Entities that one mentioned name may stand for; a name with more is too common to mean one of them.
pub const MENTION_CANDIDATES_MAX: usize = 8;

/// Entities considered for hydration in one prompt; what is over is named in a notice.
pub const HYDRATION_CANDIDATES_MAX: usize = 256;

/// Tokens of hydrated code when the model's context size is unknown.
pub const HYDRATION_TOKENS_DEFAULT: u32 = 8192;

/// Digits of a version's hash that a model is shown where they are unique.
pub const HASH_DIGITS_SHOWN_MIN: usize = 12;

/// Bytes per token for a count that rather overestimates: code averages 3 to 4 with current tokenizers.
pub const BYTES_PER_TOKEN: usize = 3;

/// Characters per token, for an estimate of text that no server has counted.
pub const CHARS_PER_TOKEN: u32 = 4;

/// Characters per token that no text has on the whole: a server that counts fewer tokens hasn't read all of it.
pub const CHARS_PER_TOKEN_MAX: u32 = 8;

/// Definitions of one block that are named one by one where their code isn't taken again; of more the file is.
pub const SAID_BEFORE_NAMED_MAX: usize = 3;

/// Texts whose author is known, of which a user's message may repeat a passage: an agent's step has three, so this does for some 700
/// steps. A message is compared with all of them, at about a microsecond each.
pub const AUTHORED_TEXTS_KEPT: usize = 2048;

/// Bytes of one such text that are compared: what is repeated is an order, a summary or a file, not a log.
pub const AUTHORED_TEXT_BYTES_MAX: usize = 1 << 20;

/// Pairs of lines that a message is compared with, the newest texts' first: those of some 10 MB of prose, at about a nanosecond each.
pub const AUTHORED_PAIRS_MAX: usize = 1 << 18;

/// Pairs of one such text: a MiB has more only if its lines have less than seven bytes.
pub const AUTHORED_TEXT_PAIRS_MAX: usize = 1 << 17;

/// Texts of the proxy's own that one session's messages are sent with; beyond that the oldest are left out, which costs a
/// model server one reading of the whole prompt.
pub const INJECTIONS_PER_SESSION_MAX: usize = 512;

/// Versions that are withheld from one session's messages; the oldest are forgotten first.
pub const WITHHELD_PER_SESSION_MAX: usize = 512;

/// Files that one prompt or reply names and that are taken as they are on disk, because nothing is known of them.
pub const TOUCHED_FILES_MAX: usize = 16;

/// Bytes of a string in a tool call's arguments that is searched for paths: a path or a command, not a file's text.
pub const TOUCHING_TEXT_BYTES_MAX: usize = 2048;

/// Lines and definitions that a notice names of what a refused change would have lost.
pub const LOST_LINES_NAMED_MAX: usize = 6;
/// See [`LOST_LINES_NAMED_MAX`].
pub const LOST_SYMBOLS_NAMED_MAX: usize = 6;

/// Directives that one prompt gives; what follows them is answered and does nothing.
pub const DIRECTIVES_PER_PROMPT_MAX: usize = 64;

/// Records that one reply proposes; the rest is answered and does nothing.
pub const RECORDS_PER_REPLY_MAX: usize = 8;
/// Records that wait for the user's word.
pub const RECORDS_PROPOSED_MAX: usize = 64;
/// Records that are kept; about 70 bytes of memory each.
pub const RECORDS_KEPT_MAX: usize = 20_000;

/// Notices that one prompt shows; the newest do.
pub const NOTICES_PER_PROMPT_MAX: usize = 12;
/// Notices of a session that wait for a prompt; the newest stay.
pub const NOTICES_WAITING_MAX: usize = NOTICES_PER_PROMPT_MAX;

/// Containers in containers that are followed to an artifact's bytes. Each is larger than what it holds, so that only a
/// forged ledger gets here.
pub const CONTAINERS_FOLLOWED_MAX: usize = 256;

/// Files looked at because older messages hold code of them; those of the newest messages come first. A look at a file that
/// didn't change costs some microseconds.
pub const OLDER_FILES_LOOKED_AT_MAX: usize = 256;

/// Entities of one name whose hashes a definition in an older message is compared with.
pub const NAMESAKES_COMPARED_MAX: usize = 64;

/// Memory for what was learnt of texts, twice: in the generation that is filling and in the one before. A text takes 250
/// bytes and a tenth of its own, so this does for conversations of 8,192 messages or 9 MB.
pub const INDEX_TEXTS_BYTES: usize = 3 << 20;

/// Definitions whose shape is remembered, twice; about 150 bytes each.
pub const INDEX_DEFINITIONS: usize = 8192;

/// Memory for the lines of definitions that texts are searched for, twice: new texts are searched for all that they name.
pub const INDEX_LINES_BYTES: usize = 1 << 20;

/// Bytes of a message that are looked at for the Recent Context window, before it is cut: a block of code that the cut
/// falls into is judged as a whole.
pub const RECENT_MESSAGE_READ_BYTES: usize = 64 << 10;

/// Text of a reply that is collected before it is appended as one segment, if that doesn't take too long.
pub const REPLY_SEGMENT_BYTES: usize = 1024;

/// Text of a reply that is recorded besides what is judged: thoughts, other choices. Hours of thinking, and no more than a
/// server that never stops may put into the ledger.
pub const REPLY_PARTS_BYTES_MAX: usize = 1 << 20;

/// Kinds and choices of such text that are kept apart; what is beyond them is left out.
pub const REPLY_PARTS_MAX: usize = 64;

/// Bytes of what the upstream says instead of a reply that are recorded: an error's words, not a page of HTML.
pub const ERROR_BYTES_MAX: usize = 4096;

/// Text of a reply that is held back because a credential in it may go on: more than twice an RSA key of 16,384 bits.
pub const REPLY_HELD_BYTES_MAX: usize = 32 * 1024;

/// Bytes that applying one edit may compare in all: hunks times base.
pub const EDIT_WORK_BYTES_MAX: usize = 256 << 20;

/// Places that one edit may change.
pub const HUNKS_PER_EDIT_MAX: usize = 1024;
