"""ETS-VII's capture written a second time, in plain numpy, straight from the paper's equations.

No code of freefloat is used, and no idea of it either: momentum is solved for the base at every stage (Yoshida 2003,
eq. 1-7), wheels are a momentum in base axes, the integrator is RK4 on rotation matrices without corrections. Joint
rates and wheel torque are found at the start of a step and held over it.
Everything is in base axes at the base's centre of mass, unless a name ends in _N.
"""

import dataclasses

import numpy as np

AXES = np.array([[0, 0, 1], [0, 1, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]], float)
JOINTS = np.array(  # [m]
    [
        [-0.79, -0.29, 1.00],
        [-0.79, -0.01, 1.35],
        [-0.79, -0.01, 2.22],
        [-0.16, -0.01, 2.22],
        [-0.16, -0.27, 2.22],
        [-0.16, -0.27, 2.50],
    ]
)
COMS = JOINTS + np.array(  # [m]
    [[0, 0, 0.175], [0, 0, 0.435], [0.315, 0, 0], [0, -0.13, 0], [0, 0, 0.14], [0.265, 0, 0]]
)
HAND = np.array([0.37, -0.27, 2.50])  # [m]
MASSES = np.array([35.0, 22.5, 21.9, 16.5, 26.0, 18.5])  # [kg]
INERTIAS = (  # [kg m2]
    (1.218, 0.5132, 1.692),
    (3.660, 3.752, 0.102),
    (0.4327, 2.528, 2.266),
    (0.3963, 0.07271, 0.3878),
    (0.5727, 0.5987, 0.1290),
    (0.2590, 0.2410, 0.1650),
)
BASE_MASS = 2550.0  # [kg]
BASE_INERTIA = np.array([[6200.0, 48.2, 78.5], [48.2, 3540.0, -29.2], [78.5, -29.2, 7090.0]])  # [kg m2]
TOTAL = BASE_MASS + MASSES.sum()
K_P, K_D = 10.0, 400.0  # of the attitude control [N m/rad], [N m s/rad]
GAIN, TURN, RATE, COARSE, FINE = 0.3, 0.02, np.deg2rad(3.0), 0.04, 0.02  # [1/s], [rad/s], [rad/s], [m/s], [m/s]


def skew(a: np.ndarray) -> np.ndarray:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def turn(w: np.ndarray) -> np.ndarray:
    """Rotation by a rotation vector (Rodrigues)."""
    angle, K = np.linalg.norm(w), skew(w)
    if angle < 1e-9:
        return np.eye(3) + K
    return np.eye(3) + np.sin(angle) / angle * K + (1 - np.cos(angle)) / angle**2 * K @ K


def rotation_vector(R: np.ndarray) -> np.ndarray:
    v = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine, cosine = np.linalg.norm(v), (np.trace(R) - 1) / 2
    return v * (np.arctan2(sine, cosine) / sine if sine > 1e-9 else 1.0)


def shortened(x: np.ndarray, limit: float) -> np.ndarray:
    return x * min(1.0, limit / max(float(np.linalg.norm(x)), 1e-300))


@dataclasses.dataclass
class Arm:
    """Everything that follows from the joint angles."""

    com: np.ndarray  # of the whole [m]
    J_com: np.ndarray  # sum of m_i J_Ti
    inertia: np.ndarray  # H~_b
    coupling: np.ndarray  # H~_bm
    J_v: np.ndarray  # of the hand, base fixed
    J_w: np.ndarray
    hand: np.ndarray  # [m]
    R_hand: np.ndarray

    @property
    def generalized(self) -> np.ndarray:
        """J_g: linear, then angular."""
        turning = np.linalg.solve(self.inertia, self.coupling)
        lever = skew(self.hand - self.com)
        return np.vstack([self.J_v - self.J_com / TOTAL + lever @ turning, self.J_w - turning])


def arm(q: np.ndarray) -> Arm:
    R, point, before = np.eye(3), np.zeros(3), np.zeros(3)
    k, p, c, I = np.zeros((6, 3)), np.zeros((6, 3)), np.zeros((6, 3)), []
    for i in range(6):
        point, before = point + R @ (JOINTS[i] - before), JOINTS[i]
        k[i], p[i] = R @ AXES[i], point
        R = R @ turn(q[i] * AXES[i])
        c[i] = point + R @ (COMS[i] - JOINTS[i])
        I.append(R @ np.diag(INERTIAS[i]) @ R.T)
    hand, com = point + R @ (HAND - JOINTS[5]), MASSES @ c / TOTAL
    J_com, H_w, H_wq = np.zeros((3, 6)), BASE_INERTIA.copy(), np.zeros((3, 6))
    for i in range(6):
        J_T, J_R = np.zeros((3, 6)), np.zeros((3, 6))
        J_T[:, : i + 1], J_R[:, : i + 1] = np.cross(k[: i + 1], c[i] - p[: i + 1]).T, k[: i + 1].T
        S = skew(c[i])
        J_com += MASSES[i] * J_T
        H_w += I[i] - MASSES[i] * S @ S
        H_wq += I[i] @ J_R + MASSES[i] * S @ J_T
    S = skew(com)
    J_v, J_w = np.cross(k, hand - p).T, k.T
    return Arm(com, J_com, H_w + TOTAL * S @ S, H_wq - S @ J_com, J_v, J_w, hand, R)


def inverse_kinematics(q: np.ndarray, hand: np.ndarray, R_hand: np.ndarray) -> np.ndarray:
    """Newton's method with the base fixed."""
    for _ in range(50):
        a = arm(q)
        step = np.linalg.solve(
            np.vstack([a.J_v, a.J_w]), np.concatenate([hand - a.hand, rotation_vector(R_hand @ a.R_hand.T)])
        )
        q = q + step * min(1.0, 0.2 / max(float(np.abs(step).max()), 1e-12))
    return q


def line_of_the_hand(start_deg: tuple[float, ...], dt: float) -> tuple[float, float, float]:
    """Experiment 1, RK4 on matrix elements: pitch at the end, largest turn of the hand [deg], fastest joint [deg/s].

    It stops where a joint is ten times as fast as the scan of start poses permits.
    """
    q, R, largest, fastest = np.deg2rad(start_deg), np.eye(3), 0.0, 0.0
    R_start = arm(q).R_hand

    def slope(R: np.ndarray, q: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        a, speed = arm(q), 0.01 * max(0.0, min(1.0, t / 2.0, (22.0 - t) / 2.0))  # [m/s]
        rates = np.linalg.solve(a.generalized, np.concatenate([R.T @ R_start[:, 0] * speed, np.zeros(3)]))
        return R @ skew(np.linalg.solve(a.inertia, -a.coupling @ rates)), rates

    for k in range(round(22.0 / dt)):
        k1 = slope(R, q, k * dt)
        fastest = max(fastest, float(np.rad2deg(np.abs(k1[1]).max())))
        if fastest > 50.0:
            break
        k2 = slope(R + dt / 2 * k1[0], q + dt / 2 * k1[1], (k + 0.5) * dt)
        k3 = slope(R + dt / 2 * k2[0], q + dt / 2 * k2[1], (k + 0.5) * dt)
        k4 = slope(R + dt * k3[0], q + dt * k3[1], (k + 1) * dt)
        R, q = (x + dt * (a + 2 * b + 2 * c + d) / 6 for x, a, b, c, d in zip((R, q), k1, k2, k3, k4, strict=True))
        E = R @ arm(q).R_hand @ R_start.T
        largest = max(largest, float(np.linalg.norm([E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1]])) / 2)
    return float(np.rad2deg(np.arcsin(np.clip(-R[2, 0], -1.0, 1.0)))), float(np.rad2deg(largest)), fastest


def start_poses(dt: float = 0.1) -> tuple[int, int, np.ndarray]:
    """Experiment 1 from the grid of start poses: how many are too low, how many too fast, base pitch of the others."""
    low, fast, pitches = 0, 0, []
    for second in range(-100, 71, 10):
        for third in range(-150, 151, 10):
            pose = (0.0, second, third, -22.8 - second - third, 0.0, 0.0)
            shoulder, elbow = (np.deg2rad(angle) for angle in (second, second + third))
            height3 = 1.35 + 0.87 * np.cos(shoulder)  # of joint 3 [m]
            height4 = height3 - 0.63 * np.sin(elbow)
            if height3 < 1.2 or min(height4, arm(np.deg2rad(pose)).hand[2]) < 1.1:
                low += 1
                continue
            pitch, _, fastest = line_of_the_hand(pose, dt)
            if fastest > 5.0:
                fast += 1
            else:
                pitches.append(pitch)
    return low, fast, np.array(pitches)


@dataclasses.dataclass
class Capture:
    """The capture of a drifting target; `run` gives switch [s], capture [s] and largest attitude [deg]."""

    case: int
    wheel_torque: float = 0.05  # [N m]
    joint_rate: float = RATE  # [rad/s]
    ramp: float = 2.0  # of the hand's velocity in the reactionless approach [s]
    floating: bool = False  # J_g instead of J_m in the reactionless approach
    dt: float = 0.05  # [s]
    start_deg: tuple[float, ...] = (0.0, -82.7, -19.8, 115.5, 0.0, 0.0)
    direction: tuple[float, ...] = (0.326, 0.031, -0.945)
    turned: tuple[float, ...] = (0.0, np.deg2rad(34.1), 0.0)  # target relative to the hand, rotation vector
    drift: tuple[float, ...] = (0.0, 0.0, -0.01)  # [m/s]

    def __post_init__(self) -> None:
        self.start, self.velocity = np.deg2rad(self.start_deg), np.array(self.drift)
        direction = np.array(self.direction) / np.linalg.norm(self.direction)
        a = arm(self.start)
        self.target = a.hand + 0.4 * direction
        self.R_target = turn(np.array(self.turned)) @ a.R_hand
        self.spline_time = 1.875 * 0.3 / COARSE  # a quintic's peak is 15/8 of its mean
        if self.case == 2:
            self.end = inverse_kinematics(self.start, a.hand + 0.3 * direction, self.R_target)
        self.mode = "coarse"

    def errors(self, a: Arm, R: np.ndarray, p: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Of the hand, position and rotation, N axes."""
        gap = self.target + self.velocity * t - p - R @ a.hand
        return gap, rotation_vector(self.R_target @ (R @ a.R_hand).T)

    def rates(self, a: Arm, R: np.ndarray, p: np.ndarray, h: np.ndarray, t: float) -> np.ndarray:
        """Joint rates of the present mode; too fast a joint slows all alike."""
        if self.mode == "waiting":
            return np.zeros(6)
        gap, turned = self.errors(a, R, p, t)
        closing = COARSE if self.mode == "coarse" else FINE
        v, w = self.velocity + shortened(GAIN * gap, closing), shortened(GAIN * turned, TURN)
        J_m = np.vstack([a.J_v, a.J_w])
        standing = np.linalg.solve(a.inertia, -h)  # rate of the base if no joint moves
        drifting = np.concatenate([skew(standing) @ (a.hand - a.com), standing])
        if self.mode == "coarse" and self.case == 2:
            x = min(t / self.spline_time, 1.0)
            rates = (self.end - self.start) * 30.0 * x**2 * (1.0 - x) ** 2 / self.spline_time
        elif self.mode == "coarse":
            v = v * (min(1.0, t / self.ramp) if self.ramp else 1.0)
            N = np.linalg.svd(a.coupling)[2][3:].T
            weights = np.repeat([1.0, 0.3], 3)  # [1], [m/rad]
            J, wanted = J_m, np.concatenate([R.T @ v, R.T @ w])
            if self.floating:
                J, wanted = a.generalized, wanted - drifting
            A = weights[:, None] * J @ N
            rates = N @ np.linalg.solve(A.T @ A + 1e-8 * np.eye(3), A.T @ (weights * wanted))
        elif self.case == 2:
            rates = np.linalg.solve(J_m.T @ J_m + 1e-6 * np.eye(6), J_m.T @ np.concatenate([R.T @ v, R.T @ w]))
        else:
            rates = np.linalg.solve(a.generalized, np.concatenate([R.T @ v, R.T @ w]) - drifting)
        return rates / max(1.0, float(np.abs(rates).max()) / self.joint_rate)

    def run(self, duration: float) -> tuple[float, float, float]:
        R, p, q, h, t = np.eye(3), np.zeros(3), self.start, np.zeros(3), 0.0
        switched = captured = np.inf
        inside, largest, w, needed = 0, 0.0, np.zeros(3), round(1.0 / self.dt)
        for k in range(round(duration / self.dt)):
            t, a = k * self.dt, arm(q)
            gap, turned = self.errors(a, R, p, t)
            attitude = rotation_vector(R)
            largest = max(largest, float(np.rad2deg(np.linalg.norm(attitude))))
            if self.mode == "coarse" and self.case == 1 and np.linalg.norm(gap) < 0.1:
                self.mode, switched = "fine", t
            if self.mode == "coarse" and self.case == 2 and t >= self.spline_time:
                self.mode = "waiting"
            calm = np.linalg.norm(attitude) < np.deg2rad(0.1) and np.linalg.norm(w) < np.deg2rad(0.005)
            if self.mode == "waiting" and calm:
                self.mode, switched = "fine", t
            close = np.linalg.norm(gap) < 0.005 and np.linalg.norm(turned) < np.deg2rad(0.5)
            inside = inside + 1 if close and self.mode == "fine" else 0
            R, p, q, h, w = self.step(R, p, q, h, t)
            if inside >= needed:
                captured = t + self.dt
                break
        return switched, captured, largest

    def step(self, R: np.ndarray, p: np.ndarray, q: np.ndarray, h: np.ndarray, t: float) -> tuple[np.ndarray, ...]:
        """RK4; the last of what it gives is the rate of the base at the start of the step, with the new joint rates."""
        rates = self.rates(arm(q), R, p, h, t)

        def slope(R: np.ndarray, q: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, ...]:
            a = arm(q)
            w = np.linalg.solve(a.inertia, -h - a.coupling @ rates)  # eq. 4, without momentum
            return w, R @ (skew(a.com) @ w - a.J_com @ rates / TOTAL)

        first = slope(R, q, h)[0]
        on = self.case == 2 or self.mode == "coarse"
        torque = on * np.clip(-K_P * rotation_vector(R) - K_D * first, -self.wheel_torque, self.wheel_torque)

        def moved(k: tuple[np.ndarray, ...], dt: float) -> tuple[np.ndarray, ...]:
            return R @ turn(dt * k[0]), p + dt * k[1], q + dt * rates, h - dt * torque

        def again(k: tuple[np.ndarray, ...], dt: float) -> tuple[np.ndarray, ...]:
            R, _, q, h = moved(k, dt)
            return slope(R, q, h)

        k1 = slope(R, q, h)
        k2 = again(k1, self.dt / 2)
        k3 = again(k2, self.dt / 2)
        k4 = again(k3, self.dt)
        mean = tuple((a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(k1, k2, k3, k4, strict=True))
        return *moved(mean, self.dt), first


if __name__ == "__main__":  # the scan of start poses, some minutes
    low, fast, pitch = start_poses()
    share = np.mean((pitch > -0.8) & (pitch < -0.4))
    print(f"{low} low, {fast} fast, {pitch.size} remain: {pitch.min():.3f} .. {pitch.max():.3f} deg, ")  # noqa: T201
    print(f"median {np.median(pitch):.3f} deg, {100 * share:.0f} % between -0.8 and -0.4 deg")  # noqa: T201
