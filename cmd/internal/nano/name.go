package nano

// Name is what the embedded model is called.
const Name = "nano"

// Notice is what a person should know before they judge the program by it.
const Notice = "nano is a very small model (31M weights) inside the program, for trying things: it knows little and is no authority.\nGet a larger one with: pooled pull qwen2.5-coder-0.5b"
