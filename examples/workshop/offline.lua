-- No network: the model's replies are played from a file, from the folder that holds tests/.
return { cassette = { replay = "tests/cassettes/react_softmax.jsonl" } }
