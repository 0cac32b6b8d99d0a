# One decision lacks a quotation: the clear is refused with the list. Marked as an assumption it
# passes; or by force.
law engine 8 | A conversation isn't cleared where decisions made since the last time lack evidence; by force it is | decisions_ungrounded, cleared_ungrounded

full what the model saw

user
| @tslp note decision #auth.grace: Fifteen minutes.
| Fine?
model
| Yes.

user
| @tslp clear
| Go on.
model
| Yes.

user
| @tslp note decision #auth.grace: Fifteen minutes. [ASSUMPTION]
| @tslp clear
| Go on.
model
| Yes.

user
| @tslp note decision #auth.skew: Thirty seconds.
| @tslp clear force
| What now?
