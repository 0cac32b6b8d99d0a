# Two methods in one fence: the second is another class's, though the first one's class has one of
# its name, with the same text.
law 4.1 (1) | A method is no class's of which a namesake elsewhere in the file is more like it, or is named | edit_applied

disk lib/q.py
| class Queue:
|     def full(self):
|         with self.mutex:
|             return 0 < self.maxsize <= self._qsize()
|     def _put(self, item):
|         self.queue.append(item)
| class HeapQueue(Queue):
|     def _put(self, item):
|         heappush(self.queue, item)
| class LifoQueue(Queue):
|     def _put(self, item):
|         self.queue.append(item)
user
| @tslp accept lib/q.py
model
| Noted.

user
| Change `Queue.full` and `LifoQueue._put` in lib/q.py.
model
| lib/q.py
| ```python
| def full(self):
|     with self.mutex:
|         size = self._qsize()
|         return 0 < self.maxsize <= size
| def _put(self, item):
|     self.queue.append((item, 1))
| ```

user
| Improve lib/q.py.
model
| lib/q.py
| ```python
| def full(self):
|     with self.mutex:
|         return 0 < self.maxsize <= self._qsize() + 1
| def _put(self, item):
|     heappush(self.queue, (item, 1))
| ```
