"""What several tests share: random trees, small experiments, recorded runs, tools that count."""
