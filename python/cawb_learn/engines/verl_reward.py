"""verl's `reward.custom_reward_function`: what the judge of `cawb serve` at $CAWB_URL says of a reply. The first byte of a reply
chooses one of the candidates of a menu, as in trl_tiny.py; a real model's reply is a candidate itself."""
import json
import os

import cawb


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **_):
    """`ground_truth` is the name of the task."""
    with open(os.environ["CAWB_MENUS"], encoding="utf-8") as file:
        menu = json.load(file)[ground_truth]
    chosen = menu[(solution_str.encode() or b"\0")[0] % len(menu)]
    return float(cawb.connect(os.environ["CAWB_URL"]).score(ground_truth, **chosen)["reward"])
