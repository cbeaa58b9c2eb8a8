"""What comes along with graphfold, and what it does behind one's back: nothing.

offline      a child process that uses all of graphfold and reports sockets
test_*       no network; pins of CI; pip-audit; the bill of materials; the wheel alone
"""
