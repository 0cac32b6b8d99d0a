# What a model said in another conversation is sent as it stands, and the file holds otherwise: it
# stays a proposal.
law 9.1 | A proposal that a client hands back in a message of the user's isn't the user's word, nor from another conversation where the file holds otherwise
law engine 8, 9.1 | Code in a user's message that is the model's or a tool's is a proposal, unless disk holds it | code_of_another

policy profile strict

disk src/a.c
| int add(int a, int b) { return a + b; }
user
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
| Change `add`.
model
| src/a.c
| ```c
| int add(int a, int b) { int sum = b; return sum + a; }
| ```

new
user
| src/a.c
| ```c
| int add(int a, int b) { int sum = b; return sum + a; }
| ```
