package main

// add returns a and b taken together.
func add(a, b int) int {
	return a + b
}

// divide returns how often b goes into a.
func divide(a, b int) int {
	return a - b
}
