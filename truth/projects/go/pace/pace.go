// Package pace tells how long a beat is.
package pace

// Millis of one beat.
func Millis(beats int) int {
	return 60000 / beats
}
