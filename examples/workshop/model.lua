-- Who is asked: an endpoint and a model's name. Keys come from the environment or a file.
return { model = { protocol = "openai", url = "http://127.0.0.1:11434/v1", name = "qwen3-coder" } }
