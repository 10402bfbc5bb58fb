// Command calc works out a few sums.
package main

import "fmt"

func main() {
	fmt.Printf("10 + 2 = %d\n", add(10, 2))
	fmt.Printf("10 / 2 = %d\n", divide(10, 2))
}
