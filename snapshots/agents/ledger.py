"""What became of the code in the model's replies, by the ledger."""


def named(entity):
    """`path::symbol`, or the path."""
    return entity["path"] + ("::" + entity["symbol"] if entity["symbol"] else "")


class Ledger:
    """What became of the code in the model's replies."""

    def __init__(self, events):
        self.versions = {}  # (episode, entity) to the versions that its reply proposed
        self.refused = {}  # episode to (entity, why)
        self.noted = {}  # episode to (entity, reason)
        self.promoted = {}  # version to the grant
        self.prompts = 0
        captures = {}
        for kind, event in events:
            if kind == "prompt_received":
                self.prompts += 1
            elif kind == "artifact_captured" and event["origin"] == "model":
                captures[event["capture"]] = event["episode"]
            elif kind == "artifact_resolved" and event["capture"] in captures:
                for version in event["versions"]:
                    key = (captures[event["capture"]], named(version["entity"]))
                    self.versions.setdefault(key, []).append(version["id"])
            elif kind == "transitioned" and event["transition"] == "promote":
                self.promoted[event["version"]] = event["cause"]
            elif kind == "promotion_refused":
                failed = [one["rule"] for one in event["report"]["verdicts"] if not one["met"]]
                why = event["report"].get("conclusion") or ", ".join(failed)
                self.refused.setdefault(event["episode"], []).append((named(event["entity"]), why))
            elif kind == "notice_issued" and event["entity"] is not None:
                self.noted.setdefault(event["episode"], []).append((named(event["entity"]), event["reason"]))

    def outcome(self, episode, entities):
        """Whether the reply's versions of all of these became true, and if not, why."""
        if not entities:
            return None, "no code"
        why = []
        for entity in entities:
            if any(version in self.promoted for version in self.versions.get((episode, entity), [])):
                continue
            near = (entity, entity.partition("::")[0])
            for known in (self.noted, self.refused):
                found = [reason for name, reason in known.get(episode, []) if name in near]
                if found:
                    why.append(", ".join(dict.fromkeys(found)))
                    break
            else:
                why.append("not seen")
        return not why, "; ".join(dict.fromkeys(why))
