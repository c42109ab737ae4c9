"""placeholder"""


class EditDistance: ...
