package rpc_test

func standIn() {}
