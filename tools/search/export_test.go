package search

import "time"

// SetMaxTime bounds calls differently until the test is over.
func SetMaxTime(t interface{ Cleanup(func()) }, d time.Duration) {
	before := maxTime
	maxTime = d
	t.Cleanup(func() { maxTime = before })
}
