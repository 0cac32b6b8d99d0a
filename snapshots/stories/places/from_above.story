# A chat from the folder above the workspace names its files with the workspace's name in front, also one that is unknown.
law engine 4 | A path from the folder above the root is the file beneath it

disk src/a.py
| def area(w, h):
|     return w * h
touch
user
| Make area refuse negative sides.
model
| space/src/a.py
| ```python
| <<<<<<< SEARCH
|     return w * h
| =======
|     return abs(w * h)
| >>>>>>> REPLACE
| ```
