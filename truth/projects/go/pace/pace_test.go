package pace

import "testing"

func TestMillis(t *testing.T) {
	if Millis(120) != 500 {
		t.Fatal("120")
	}
}

func TestNothing(t *testing.T) {
	if Millis(0) != 0 {
		t.Fatal("0")
	}
}
