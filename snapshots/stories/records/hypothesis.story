# A hypothesis is shown as one until its time is over; what was told is taken back, and a clock
# that goes back by a year brings nothing back.
law engine 8 | A hypothesis has an end, which no clock undoes | record_without_end, record_expired

user
| @tslp note hypothesis #dns: The timeouts come from DNS. ttl 3d
| @tslp note hypothesis #net: It is the network.
| What about #dns?
model
| It may be.

later 71
user
| Still #dns?
model
| Yes.

later 2
user
| And #dns now?
model
| No.

later -8760
client B
user
| What about #dns?
