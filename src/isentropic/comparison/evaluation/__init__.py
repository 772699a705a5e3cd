"""A method fitted and scored: tasks, jobs, runs, tests of labels and of rows."""
