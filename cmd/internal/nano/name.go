package nano

// Name is what the embedded model is called.
const Name = "nano"

// Notice is what a person should know before they judge the program by it.
const Notice = "nano is a toy of 31M weights that ships inside the program: it often says nonsense.\nGet a real model with: pooled pull qwen2.5-coder-0.5b"
