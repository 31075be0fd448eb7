"""Names and titles of all scenarios, for the shell; a test compares them with the catalogue."""

SCENARIO_TITLES = {
    "ets7-gjm": "ETS-VII: straight line of the hand with the generalised Jacobian",
    "ets7-satellite-based": "ETS-VII: the same line, satellite-based with reaction wheels",
    "ets7-rns": "ETS-VII: reactionless manipulation in the reaction null space",
    "ets7-gravity-gradient": "ETS-VII: attitude drift under the gravity gradient",
    "ets7-capture": "ETS-VII: autonomous capture of a drifting target",
    "envisat-free": "Envisat: free motion in orbit and in a cell of two robots",
    "envisat-capture": "Envisat: capture by a compliant servicer, in orbit and in a cell of two robots",
    "goddard-symmetric": "Goddard: hub with two flexible beams, symmetric release",
    "goddard-asymmetric": "Goddard: hub with two flexible beams, antisymmetric release",
    "goddard-hil": "Goddard: rigid hub in the loop with a robot that carries flexible beams",
    "srms-tangential": "Shuttle arm: tangential impact of a spinning payload",
    "srms-normal": "Shuttle arm: normal impact of a payload",
    "station-libration": "Station: libration in the gravity gradient",
    "station-recovery": "Station: recovery of attitude and shape",
    "station-rms": "Station: the arm travels along the bus",
}
