package main

func matAVX2() {}
