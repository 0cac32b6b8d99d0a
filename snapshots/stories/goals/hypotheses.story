# A hypothesis and a decision are noted for a goal: when it is done the first is taken back, the
# second stays; one noted without a goal isn't touched.

user
| @tslp note hypothesis #ci.flaky: Nameservers are slow. ttl 3d
| @tslp goal Make the parser fast
| @tslp note hypothesis #parser.slow: The scanner copies. ttl 3d
| @tslp note decision #parser.one: One pass.
| What of #parser.slow, #parser.one and #ci.flaky?
model
| We will see.

user
| @tslp goal done
| And of #parser.slow, #parser.one and #ci.flaky now?
