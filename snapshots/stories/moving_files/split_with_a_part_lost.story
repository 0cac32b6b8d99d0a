# The same, but the method comes without its check: it didn't move as it is, so the file that
# lacks it is refused.
law 7 | What a reply takes out of one file and puts into another as it is has moved: not lost, and no copy | symbols_lost

disk store.go
| package store
|
| type Store struct{ rows map[string]int }
|
| func (s *Store) Get(name string) int {
| 	return s.rows[name]
| }
|
| func (s *Store) Put(name string, row int) {
| 	if s.rows == nil {
| 		s.rows = map[string]int{}
| 	}
| 	s.rows[name] = row
| }
user
| @tslp accept store.go
model
| Fine.

user
| Store has become too big, split it into two files.
model
| store.go
| ```go
| package store
|
| type Store struct{ rows map[string]int }
|
| func (s *Store) Get(name string) int {
| 	return s.rows[name]
| }
| ```
|
| store_put.go
| ```go
| package store
|
| func (s *Store) Put(name string, row int) {
| 	s.rows[name] = row
| }
| ```
