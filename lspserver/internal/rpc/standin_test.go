package rpc_test

// standIn is where the test binary plays another process.
func standIn() {}
