package tempo

import "testing"

func TestBeats(t *testing.T) {
	if Beats("largo") != 50 {
		t.Fatal("largo")
	}
}

func TestUnknown(t *testing.T) {
	if Beats("fast") != 0 {
		t.Fatal("fast")
	}
}

func TestFaster(t *testing.T) {
	if !Faster("allegro", "largo") {
		t.Fatal("allegro is faster than largo")
	}
	if Faster("largo", "largo") {
		t.Fatal("largo is not faster than itself")
	}
}
