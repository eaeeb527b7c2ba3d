"""Lets the service reject requests that the OpenAPI document allows only by rules that no JSON Schema can state."""

import re

import schemathesis
from schemathesis.core.failures import Failure
from schemathesis.specs.openapi.checks import positive_data_acceptance

RULES = [
    # Two fields are compared, or counted together.
    r"Must be before `to`\.",
    r"Must not be after `(to|receivedTo)`\.",
    r"Must (not be more than|be at most) \d+ (hours|days) before `to`\.",
    r"max is smaller than min, which is ",
    r"Expected one entry per criterion: ",
    r"Inputs need exactly one turn\.",
    r"The inputs have [\d,]+ characters together; ",
    r"Turn \d+ does not exist: the test has ",
    r"Duplicate header\.",
    r"This model already has a price from this day\.",
    r"Same as rule \d+\.",
    r"This attribute is read already\.",
    r"must be unique in the trace",
    r"The export request contains no spans\.",
    r"This attribute is listed already\.",
    r"Another rule is named ",
    r"“[a-z]+” is the name of a built-in rule\.",
    r"The patterns take too long to compile\.",
    # Ids refer to each other inside of a body.
    r"No assertion has the ID ",
    r"Circular dependency\.",
    r"The ID .* is used twice",
    # A number in a text has a range.
    r"must be nanoseconds as the decimal text of a uint64",
    # Query parameters exclude each other.
    r"Only supported for manual runs\.",
    r"Not supported for manual runs\.",
    r"Needs (testId|attribute|metadata)\.",
    r"Must be newest or oldest together with ",
    # The rule depends on the time.
    r"Must be in the future and at most one year ahead\.",
    # The rule depends on what is stored: a secret kept for an origin, the token of an email.
    r"Enter a value\.",
    r"Enter the (API key|value) again: ",
    r"The URL has changed\. Enter this secret again\.",
    r"(Google|OpenAI|Anthropic) needs an API key\.",
    r"This (agent|project) has no (test case|agent) with this id\.",
    r"(“[\s\S]*”: )?[\d,]+ inputs × [\d,]+ repeats are ",  # stored inputs, times repeats
    r"These tests are [\d,]+ runs\. ",
    r"Invalid token",
    r"The span has no such value\.",
    r"The trace has no span with this ID\.",
    r"An active (test|“Run when relevant” test) needs ",  # PATCH, whose other fields are stored
    r"Only for `content: forget`\.",
    r"Enter a time between a minute and a year: ",
    r"The request names no agent, and this key is not limited to one agent\.",
    # The text is in another language: a URL, a template, a regex, a JSON Schema.
    r"Must be a URL that starts with http:// or https://\.",
    r"Not a valid URL\. Enter one like ",
    r"Unknown placeholder ",
    r"\{\{(history|messages)\}\} becomes a list: ",
    r"Not valid JSON once filled in\.",
    r"This is not a valid pattern: ",
    # Characters that cannot be seen count as blanks.
    r"Must not be blank\.",
]
rule = re.compile("|".join(f"(?:{text})" for text in RULES))


def is_explained(response):
    answer = response.json()
    messages = [issue["message"] for issue in answer.get("issues", [])] or [answer["message"]]
    return all(rule.match(message) for message in messages)


@schemathesis.check
def accepts_what_is_described(ctx, response, case):
    """positive_data_acceptance, without the answers that the rules explain."""
    try:
        positive_data_acceptance(ctx, response, case)
    except Failure:
        if response.status_code != 400 or not is_explained(response):
            raise
