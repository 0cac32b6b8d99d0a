//! A process that goes on ends every reply that the old one left under way.

use tslp_core::event::{Event, ReplyOutcome};
use tslp_core::ids::{EpisodeId, UnixMillis};
use tslp_core::message::{Attempt, Message, Role, Tools};
use tslp_core::policy::Policy;
use tslp_core::request::Request;
use tslp_decide::judge::reply::Reply;
use tslp_grammars::TreeSitterGrammars;
use tslp_projections::state::State;
use tslp_projections::store::EmptyStore;
use tslp_replay::engine::Engine;
use tslp_replay::pending::DiskAnswers;

const NOW: UnixMillis = UnixMillis(0);

type Proxy = Engine<TreeSitterGrammars, EmptyStore>;

fn proxy() -> Proxy {
    Engine::new(
        State::default(),
        TreeSitterGrammars,
        Policy::default(),
        EmptyStore,
    )
}

fn prompt(proxy: &mut Proxy, text: &str, session: Option<&str>, attempt: Attempt) -> EpisodeId {
    let request = Request {
        model: "m".into(),
        messages: vec![Message::new(Role::User, text).into()],
        session_name: session.map(str::to_owned),
        continues: None,
        attempt,
        tools: Tools::None,
    };
    let pending = proxy.receive(NOW, request, &mut |_| Vec::new());
    proxy.compose(pending, DiskAnswers::default()).episode
}

fn end(proxy: &mut Proxy, episode: EpisodeId, outcome: ReplyOutcome) {
    let pending = proxy.end_reply(NOW, episode, Reply::default(), outcome, &mut |_| Vec::new());
    proxy.judge(pending, DiskAnswers::default());
}

fn interrupted(proxy: &mut Proxy) -> Vec<u64> {
    let events = proxy.resume_after_restart(NOW).recorded;
    let ended = events.iter().filter_map(|recorded| match &recorded.event {
        Event::ReplyEnded(ended) if ended.outcome == ReplyOutcome::Interrupted => {
            Some(recorded.episode.0)
        }
        _ => None,
    });
    ended.collect()
}

/// Found by the simulation: a client broke off, sent the prompt again, and the process died. The first attempt's end
/// had closed the episode, so nothing said that the second one was interrupted.
#[test]
fn retry_under_way() {
    let mut proxy = proxy();
    let episode = prompt(&mut proxy, "hello", None, Attempt::First);
    end(&mut proxy, episode, ReplyOutcome::ClientGone);
    let again = prompt(&mut proxy, "hello", None, Attempt::Retry);
    assert_eq!(again, episode);
    assert_eq!(interrupted(&mut proxy), [episode.0]);
    assert_eq!(interrupted(&mut proxy), [0; 0]);
}

/// Found by the simulation: only the last prompt of a session counted as under way.
#[test]
fn reply_left_behind() {
    let mut proxy = proxy();
    let first = prompt(&mut proxy, "hello", Some("s"), Attempt::First);
    let second = prompt(&mut proxy, "never mind", Some("s"), Attempt::First);
    assert_eq!(interrupted(&mut proxy), [first.0, second.0]);
}

/// Two attempts at once are over when both have ended.
#[test]
fn two_attempts_at_once() {
    let mut proxy = proxy();
    let episode = prompt(&mut proxy, "hello", None, Attempt::First);
    prompt(&mut proxy, "hello", None, Attempt::Retry);
    end(&mut proxy, episode, ReplyOutcome::ClientGone);
    assert_eq!(proxy.resume_after_restart(NOW).recorded.len(), 1);
    let episode = prompt(&mut proxy, "more", None, Attempt::First);
    end(&mut proxy, episode, ReplyOutcome::Completed);
    assert_eq!(interrupted(&mut proxy), [0; 0]);
}
