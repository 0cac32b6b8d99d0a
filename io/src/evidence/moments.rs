//! Moments as people write them: RFC 3339, a date and time in UTC, or how long ago.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, SpanRelativeTo, Timestamp};

/// A recorded moment as people and programs read it: RFC 3339, UTC, milliseconds.
#[must_use]
pub fn utc_moment(millis: i64) -> String {
    Timestamp::from_millisecond(millis).map_or_else(|_| millis.to_string(), |at| format!("{at:.3}"))
}

/// The date of a recorded moment, in UTC.
#[must_use]
pub fn utc_day(millis: i64) -> String {
    format!("{:.10}", utc_moment(millis))
}

/// The moment in milliseconds since the Unix epoch.
///
/// # Errors
/// If it is none; the text says what can be written instead.
pub fn parse_moment(written: &str, now: Timestamp) -> Result<i64, String> {
    if let Ok(at) = written.parse::<Timestamp>() {
        return Ok(at.as_millisecond());
    }
    if let Ok(at) = written.parse::<DateTime>() {
        return TimeZone::UTC
            .to_timestamp(at)
            .map(|at| at.as_millisecond())
            .map_err(|error| error.to_string());
    }
    let ago = written.parse::<Span>().ok().and_then(|span| {
        let length = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
        now.checked_sub(length.abs()).ok()
    });
    ago.map(|at| at.as_millisecond()).ok_or_else(|| {
        format!(
            "`{written}` is no moment: write one as 2026-01-31T12:00:00Z, as 2026-01-31 (UTC), or how long ago, as 90m, 2h or 3d"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(written: &str, expected: Result<&str, ()>) {
        let now = "2026-03-02T12:00:00Z".parse().unwrap();
        let expected = expected.map(|at| at.parse::<Timestamp>().unwrap().as_millisecond());
        assert_eq!(
            parse_moment(written, now).map_err(drop),
            expected,
            "{written}"
        );
    }

    #[test]
    fn human_formats() {
        check("2026-01-31T12:00:00Z", Ok("2026-01-31T12:00:00Z"));
        check("2026-01-31T12:00:00+02:00", Ok("2026-01-31T10:00:00Z"));
        check("2026-01-31", Ok("2026-01-31T00:00:00Z"));
        check("2026-01-31 08:30", Ok("2026-01-31T08:30:00Z"));
        check("2h", Ok("2026-03-02T10:00:00Z"));
        check("90m", Ok("2026-03-02T10:30:00Z"));
        check("1d 1h", Ok("2026-03-01T11:00:00Z"));
        check("2 weeks ago", Ok("2026-02-16T12:00:00Z"));
    }

    #[test]
    fn other_formats() {
        for written in ["", "yesterday", "2026-13-01", "2", "1 month"] {
            check(written, Err(()));
        }
    }
}
