# A call does what it calls: a loop isn't extracted into a helper that has nothing of it.
law 7 | A call stands for what it calls: in the place of a loop for as much as the reply brings of that, and for nothing if nobody knows what is called | removed_unasked

user
| form.go
| ```go
| package form
|
| import "strings"
|
| func (f *Form) Parse(raw string) error {
| 	if raw == "" {
| 		return errEmpty
| 	}
| 	f.Params = map[string]string{}
| 	for _, pair := range strings.Split(raw, "&") {
| 		key, value, _ := strings.Cut(pair, "=")
| 		f.Params[key] = value
| 	}
| 	f.Total = len(f.Params)
| 	return f.checked(raw, f.Total, strings.ToLower(f.Name))
| }
| ```
| Extract the loop of `Parse` into a helper.
model
| form.go
| ```go
| func (f *Form) Parse(raw string) error {
| 	if raw == "" {
| 		return errEmpty
| 	}
| 	f.Params = parseParams(raw)
| 	f.Total = len(f.Params)
| 	return f.checked(raw, f.Total, strings.ToLower(f.Name))
| }
|
| func parseParams(raw string) map[string]string {
| 	return map[string]string{}
| }
| ```
