"""The work of speed.py in plain PyTorch, written the way the public trajectory-matching codes write it."""

from typing import NamedTuple

import torch
from torch.nn import functional


class Segment(NamedTuple):
    """Where the student starts and where it must get, flat parameters (P,)."""

    start: torch.Tensor
    target: torch.Tensor


def draw_segment(start, control, end, length: float = 0.2) -> Segment:
    """A piece of one of K quadratic Bézier curves, arrays (K, P)."""
    number = int(torch.randint(len(start), ()))
    begin = float(torch.rand(())) * (1 - length)
    points = (
        (1 - t) ** 2 * start[number] + 2 * t * (1 - t) * control[number] + t**2 * end[number]
        for t in (begin, begin + length)
    )
    return Segment(*points)


def logits(theta: torch.Tensor, x: torch.Tensor, hidden: int) -> torch.Tensor:
    """Logits (rows,) of Linear, ReLU, Linear whose weights are views of the flat vector ``theta``."""
    inputs = x.shape[1]
    shapes = (hidden, inputs), (hidden,), (1, hidden), (1,)
    sizes = [torch.Size(shape).numel() for shape in shapes]
    parts = [part.view(shape) for part, shape in zip(theta.split(sizes), shapes, strict=True)]
    return functional.linear(functional.relu(functional.linear(x, *parts[:2])), *parts[2:])[:, 0]


def matching_loss(segment: Segment, x, targets, student_lr, *, hidden: int, steps: int, full: bool):
    """‖θ_N - t‖² / ‖s - t‖² after N unrolled gradient steps on all rows, with the graph of every step kept.

    ``full`` differentiates through the whole way of the student (MTT); otherwise each step's gradient is
    taken at a detached θ, which is the first-order gradient of TESLA in a single pass.
    """
    theta = segment.start.clone().requires_grad_()
    for _ in range(steps):
        at = theta if full else theta.detach().requires_grad_()
        loss = functional.binary_cross_entropy_with_logits(logits(at, x, hidden), targets)
        (gradient,) = torch.autograd.grad(loss, at, create_graph=True)
        theta = theta - student_lr * gradient
    squared_length = torch.sum((segment.start - segment.target) ** 2)
    return torch.sum((theta - segment.target) ** 2) / squared_length


def run_block(curves, x, targets, *, hidden: int, steps: int, full: bool, iterations: int) -> torch.Tensor:
    """Rows after ``iterations`` of: segment, student, backward, momentum steps of rows and student_lr."""
    x = x.clone().requires_grad_()
    student_lr = torch.tensor(0.01, requires_grad=True)
    row_step = torch.optim.SGD([x], lr=100.0, momentum=0.9)
    lr_step = torch.optim.SGD([student_lr], lr=1e-4, momentum=0.5)
    for _ in range(iterations):
        segment = draw_segment(*curves)
        loss = matching_loss(segment, x, targets, student_lr, hidden=hidden, steps=steps, full=full)
        row_step.zero_grad()
        lr_step.zero_grad()
        loss.backward()
        row_step.step()
        lr_step.step()
    return x.detach()


def train_expert(
    x, targets, *, hidden: int, dropout: float, epochs: int, lr: float, momentum: float, batch: int
) -> torch.nn.Module:
    """One expert trained by minibatch SGD."""
    network = torch.nn.Sequential(
        torch.nn.Linear(x.shape[1], hidden),
        torch.nn.ReLU(),
        torch.nn.Dropout(dropout),
        torch.nn.Linear(hidden, 1),
    )
    optimiser = torch.optim.SGD(network.parameters(), lr=lr, momentum=momentum)
    criterion = torch.nn.BCEWithLogitsLoss()
    for _ in range(epochs):
        for rows in torch.randperm(len(x)).split(batch):
            optimiser.zero_grad()
            criterion(network(x[rows])[:, 0], targets[rows]).backward()
            optimiser.step()
    return network
