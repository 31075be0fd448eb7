"""Campaigns say whose code is being made."""

import pushed_craft
from freefloat.campaign import run_campaign
from freefloat.engine import on_making


def test_code_of_a_campaign_is_named(own_cache):
    heard = []
    with on_making(heard.append):
        run_campaign(pushed_craft.campaign(4, title="pushes"))
    assert {event.what for event in heard} == {"the campaign 'pushes'"}
    assert {event.phase for event in heard} == {"tracing", "compiling"}
    heard.clear()
    with on_making(heard.append):
        run_campaign(pushed_craft.campaign(4, title="pushes"))
    assert not heard
