-- No network: the model's replies are played from a file, from the folder that holds tests/.
return { cassette = { replay = "tests/agent/cassettes/react_softmax.jsonl" } }
