# Below one file's path another file's function is that file's, as it is like it and was shown.
law 4.1 (1) | A comment line that is a path begins that file's code in a fence; without one a definition goes to the known file that has it, and not to a file because its neighbour belongs there | ast_match

disk timeline.py
| # hours.py
| DAY = 24
|
| def clock(minutes):
|     if minutes < 0:
|         raise ValueError('no time')
|     return f'{minutes // 60}:{minutes % 60}'
disk table.py
| def widths(rows):
|     sizes = []
|     for row in rows:
|         sizes.append(max(len(cell) for cell in row))
|     return sizes
command accept timeline.py
command accept table.py
user
| Let `clock` refuse minutes of the next day, and `widths` count 3 at least.
model
| timeline.py
| ```python
| def clock(minutes):
|     if minutes < 0 or minutes >= DAY * 60:
|         raise ValueError('no time')
|     return f'{minutes // 60}:{minutes % 60}'
|
| def widths(rows):
|     sizes = []
|     for row in rows:
|         sizes.append(max(3, max(len(cell) for cell in row)))
|     return sizes
| ```
