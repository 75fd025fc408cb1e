"""Text in, a stream of text with confidences out: a BLS model over the chitchat engine."""

import contextlib
import json

import triton_python_backend_utils as pb_utils

from server_bundle.chitchat import care, prompt_file, triton_io
from server_bundle.chitchat.caller import EngineCaller, EngineFailed
from server_bundle.chitchat.folder import context_length, read_json
from server_bundle.chitchat.opening import open_layout
from server_bundle.chitchat.parameters import InvalidParameter, parse
from server_bundle.chitchat.prompt import InvalidPrompt
from server_bundle.chitchat.text_request import TextReply, TextRequest


class TritonPythonModel:
    def initialize(self, args):
        config = json.loads(args["model_config"])
        folder = triton_io.path_parameter(config, "chat_model")
        self.layout = open_layout(folder)
        length = context_length(read_json(folder / "config.json"))
        file = prompt_file.read(folder, self.layout.vocabulary.size, length)
        self.defaults = prompt_file.sampling_defaults(folder, file)
        self.caller = EngineCaller(
            triton_io.parameter(config, "engine"), triton_io.path_parameter(config, "run_dir")
        )

    def execute(self, requests):
        for request in requests:
            client = triton_io.Client(request)
            try:
                taken_back = triton_io.take_back(request)
                if taken_back is not None:
                    found = self.caller.cancel(taken_back)
                    client.send(TextReply.of_cancelling(found), final=True)
                    continue
                text = TextRequest.read(request)
                if care.speaks_of_suicide(text.text_input):  # no model is asked about that
                    reply = TextReply(text, self.layout)
                    words = care.answer(text.text_input)
                    client.send(reply.fixed(words, care.FINISH_REASON), final=True)
                    continue
                parameters = parse(
                    text.sampling,
                    self.defaults,
                    vocab_size=self.layout.vocabulary.size,
                    context=self.layout.context,
                )
                prompt = self.layout.encode(
                    text.history,
                    text.text_input,
                    parameters.max_tokens,
                    text.reply_prefix,
                    text.opening,
                    text.system,
                )
            except (triton_io.InvalidRequest, InvalidParameter, InvalidPrompt) as error:
                client.fail(error)
                continue
            reply = TextReply(
                text, self.layout, len(prompt.ids), prompt.dropped_turns, parameters.stop
            )
            self.caller.submit(client, self.answer, reply, prompt, parameters)

    def answer(self, client, reply, prompt, parameters):
        def take(step):
            due = reply.add(step)
            for i, outputs in enumerate(due, start=1):
                client.send(outputs, final=reply.ended and i == len(due))
            return reply.ended  # at a stop string the engine itself would go on

        types = prompt.types or [0] * len(prompt.ids)
        try:
            self.caller.reply(prompt.ids, types, parameters, client, take)
        except EngineFailed as error:
            client.fail(error, pb_utils.TritonError.UNAVAILABLE)
        except Exception as error:  # sending failed, most likely: the client is gone
            pb_utils.Logger.log_warn(f"a reply broke off: {error}")
            with contextlib.suppress(Exception):  # Triton holds a request until its last response
                client.fail(f"the reply broke off: {error}", pb_utils.TritonError.INTERNAL)

    def finalize(self):
        self.caller.close()
