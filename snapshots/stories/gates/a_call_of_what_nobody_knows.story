# A loop isn't extracted by a call alone: nobody knows what is called. With the helper the same
# edit is taken.
law 7 | A call stands for what it calls: in the place of a loop for as much as the reply brings of that, and for nothing if nobody knows what is called

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
| 	return nil
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
| 	return nil
| }
| ```

user
| Where is the helper?
model
| form.go
| ```go
| func (f *Form) Parse(raw string) error {
| 	if raw == "" {
| 		return errEmpty
| 	}
| 	f.Params = parseParams(raw)
| 	f.Total = len(f.Params)
| 	return nil
| }
|
| func parseParams(text string) map[string]string {
| 	result := map[string]string{}
| 	for _, part := range strings.Split(text, "&") {
| 		name, value, _ := strings.Cut(part, "=")
| 		result[name] = value
| 	}
| 	return result
| }
| ```
