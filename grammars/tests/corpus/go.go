// Package ring holds rings. func NotMe() {}
package ring

import (
	"errors"
	"fmt"
)

// ErrFull says that nothing more fits.
var ErrFull = errors.New("full { ")

const Max = 10

const (
	// Small rings.
	Small Size = iota
	Large
)

var (
	a, b = 1, 2
	_    fmt.Stringer = (*Ring[int])(nil)
)

type Size int

// Ring is a ring.
type Ring[T any] struct {
	items []T
	next  func(interface{}) struct{}
}

type Shape interface {
	Area() float64
}

type (
	Point struct{ X, Y int }
	Names []string
)

// New makes a ring.
func New[T any](size int) *Ring[T] {
	return &Ring[T]{items: make([]T, 0, size)}
}

func (r *Ring[T]) Push(item T) error {
	if len(r.items) == cap(r.items) {
		return ErrFull
	}
	r.items = append(r.items, item)
	return nil
}

func (p Point) String() string { return fmt.Sprintf(`{%d
func fake() {`, p.X) }

func visit(of map[string]interface{}, with func(rune) bool) (out struct{ n int }, err error) {
	for r := '{'; with(r); r++ {
		out.n++
	}
	return
}

func external(x int) int

func (Point) Area() float64 {
	panic("not implemented")
}

func init() {
	// TODO: register
}
