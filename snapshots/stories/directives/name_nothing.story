# A directive that names nothing, or nothing that can be named, is answered with why; so is an
# unknown one.
law engine 8 | A directive that finds nothing to do is answered | nothing_to_do
law engine 8 | An unknown directive is answered | unknown_directive
law engine 8 | A directive that names nothing is answered | target_missing
law engine 8 | A directive with a path outside of the workspace is answered | target_outside
law engine 8 | A directive with a path that can't be used is answered | target_not_usable

user
| @tslp accept ../../etc/passwd
| @tslp accept
| @tslp accept ab.c
| @tslp reject src/none.c::f
| @tslp dance
