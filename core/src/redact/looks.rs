//! Whether characters look as if they were generated at random.

/// Entropy in tenths of a bit a character, by Shannon, of at most 255 bytes.
pub(super) fn entropy_tenths(bytes: &[u8]) -> u32 {
    let mut counts = [0_u8; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    let log2 = |count: usize| log2_in_256ths(u32::try_from(count).unwrap_or(u32::MAX));
    let of_each = bytes
        .iter()
        .map(|byte| log2(counts[usize::from(*byte)].into()));
    let mean = of_each.sum::<u32>() / u32::try_from(bytes.len().max(1)).unwrap_or(u32::MAX);
    log2(bytes.len().max(1)).saturating_sub(mean) * 10 / 256
}

/// The binary logarithm, straight between powers of two: it is off by less than a tenth.
fn log2_in_256ths(value: u32) -> u32 {
    let whole = value.ilog2();
    let above = u64::from(value - (1 << whole));
    whole * 256 + u32::try_from((above << 8) >> whole).unwrap_or(0)
}

/// Whether there is a run of twelve letters and digits with both in it.
pub(super) fn has_mixed_run(bytes: &[u8]) -> bool {
    let runs = bytes.split(|byte| !byte.is_ascii_alphanumeric());
    let mut long = runs.filter(|run| run.len() >= 12);
    long.any(|run| run.iter().any(u8::is_ascii_digit) && run.iter().any(u8::is_ascii_alphabetic))
}

/// Whether this is more than hyphenated words with a few numbers.
pub(super) fn is_no_words(bytes: &[u8]) -> bool {
    has_mixed_run(bytes) || kind_changes(bytes) >= 6
}

/// Whether the value is no word, no identifier and no sentence.
pub(super) fn is_jumbled(bytes: &[u8]) -> bool {
    has_mixed_run(bytes) && kind_changes(bytes) >= 4 && entropy_tenths(bytes) >= 30
}

/// Whether letters, digits and signs follow one another as only a generator has them: `8h@k2!x9v$w3m#q7z&p5r`.
pub(super) fn is_scattered(bytes: &[u8]) -> bool {
    let kind = |byte: u8| (byte.is_ascii_alphabetic(), byte.is_ascii_digit());
    let changes = bytes
        .windows(2)
        .filter(|pair| kind(pair[0]) != kind(pair[1]));
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit());
    let signs = bytes.iter().filter(|byte| !byte.is_ascii_alphanumeric());
    bytes.len() >= SCATTERED_BYTES_MIN
        && bytes.is_ascii()
        && digits.count() >= 2
        && signs.count() >= 3
        && changes.count() * 5 >= bytes.len() * 2
        && entropy_tenths(bytes) >= SCATTERED_ENTROPY_TENTHS_MIN
}

/// Least length of what a generator made of letters, digits and signs, and least entropy in tenths of a bit: a pattern or a format
/// repeats its signs.
const SCATTERED_BYTES_MIN: usize = 20;
const SCATTERED_ENTROPY_TENTHS_MIN: u32 = 39;

/// The number of digits after letters, counted twice, and of upper-case letters after lower-case ones.
fn kind_changes(bytes: &[u8]) -> usize {
    let pairs = bytes.windows(2).map(|pair| {
        let to_digit = pair[0].is_ascii_alphabetic() && pair[1].is_ascii_digit();
        let to_upper = pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
        usize::from(to_digit) * 2 + usize::from(to_upper)
    });
    pairs.sum()
}

/// Whether most of it is words, one after the other: runs of lower-case letters, each after at most one capital.
pub(super) fn is_of_words(bytes: &[u8]) -> bool {
    let mut in_words = 0;
    for run in bytes.split(|byte| !byte.is_ascii_alphabetic()) {
        let words = run.chunk_by(|one, next| {
            next.is_ascii_lowercase() || one.is_ascii_uppercase() && next.is_ascii_uppercase()
        });
        let words =
            words.filter(|word| word.len() >= WORD_LETTERS_MIN && word[1].is_ascii_lowercase());
        in_words += words.map(<[u8]>::len).sum::<usize>();
    }
    let has_capital = bytes.iter().any(u8::is_ascii_uppercase);
    has_capital && in_words * 5 >= bytes.len() * 4
}

/// Fewest letters of a word among those of an identifier.
const WORD_LETTERS_MIN: usize = 4;
