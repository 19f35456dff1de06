// Package tempo reads musical tempo marks.
package tempo

// Beats per minute of a mark; 0 if it is unknown.
func Beats(mark string) int {
	switch mark {
	case "largo":
		return 50
	case "allegro":
		return 120
	}
	return 0
}

// Faster tells whether one mark is faster than the other.
func Faster(one, other string) bool {
	return Beats(one) >= Beats(other)
}
