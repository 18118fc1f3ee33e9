"""What is sent and answered. Inputs forbid what they do not declare; answers are checked against the same contract."""

from typing import Annotated, Any, Literal

from examples.api.faults import BREAKING, planted
from examples.api.fields import INTEGRAL, PRINTABLE, Day, Flag, Id, Line, Paragraph
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

Genre = Literal["novel", "poetry", "science", "history", "children"]
Isbn = Annotated[str, StringConstraints(strict=True, pattern="^97[89][0-9]{10}$")]
Username = Annotated[str, StringConstraints(strict=True, pattern="^[a-z][a-z0-9_]{2,19}$")]
Password = Annotated[str, StringConstraints(strict=True, min_length=8, max_length=64, pattern=PRINTABLE)]
BirthYear = Annotated[int, Field(strict=True, ge=1900, le=2020), INTEGRAL]
LONGEST_TITLE = 80


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Email(Shape):
    kind: Literal["email"]
    address: Annotated[str, StringConstraints(strict=True, pattern=r"^[a-z0-9.]{1,40}@[a-z0-9-]{1,40}\.[a-z]{2,10}$")]


class Phone(Shape):
    kind: Literal["phone"]
    number: Annotated[str, StringConstraints(strict=True, pattern=r"^\+[1-9][0-9]{5,14}$")]


Contact = Annotated[Email | Phone, Field(discriminator="kind")]


class Address(Shape):
    street: Line
    city: Line
    country: Annotated[str, StringConstraints(strict=True, pattern="^[A-Z]{2}$")]


class NewMember(Shape):
    username: Username
    password: Password
    name: Line
    birth_year: BirthYear | None = None
    contact: Contact
    address: Address | None = None


class MemberChange(Shape):
    """What is absent stays as it is."""

    # Factories, because a default in the contract would promise a value.

    name: Line = Field(default_factory=str)
    birth_year: BirthYear | None = Field(default_factory=lambda: None)
    contact: Contact = Field(default_factory=lambda: Phone.model_construct(kind="phone", number=""))
    address: Address | None = Field(default_factory=lambda: None)

    @model_validator(mode="before")
    @classmethod
    def known_keys(cls, given: Any) -> Any:
        if planted("extra-key") and isinstance(given, dict) and (unknown := given.keys() - cls.model_fields.keys()):
            raise TypeError(f"change() got an unexpected keyword argument {min(unknown)!r}")
        return given


class Member(Shape):
    id: Id
    username: Username
    name: Line
    birth_year: int | None
    contact: Contact
    address: Address | None
    joined_on: Day


class Channel(Shape):
    enabled: Flag
    days: Annotated[list[Literal["mon", "tue", "wed", "thu", "fri"]], Field(max_length=5)]


class Channels(Shape):
    email: Channel
    post: Channel | None


class Preferences(Shape):
    language: Literal["en", "de", "eo"]
    channels: Channels


def _indexed(title: Any) -> Any:
    if planted("title-surrogate") and isinstance(title, str):
        try:
            title.encode()
        except UnicodeEncodeError as error:
            raise RuntimeError("the title cannot be indexed") from error
    return title


class NewBook(Shape):
    isbn: Annotated[Isbn, Field(examples=["9780141439518"])]
    title: Annotated[Line, Field(max_length=LONGEST_TITLE), BeforeValidator(_indexed)]
    author: Line
    year: Annotated[int, Field(strict=True, ge=1450, le=2100), INTEGRAL]
    genre: Genre
    pages: Annotated[int, Field(strict=True, ge=1, le=5000), INTEGRAL] | None = None
    rating: Annotated[float, Field(strict=True, ge=0, le=5)] | None = None
    tags: Annotated[list[Line], Field(max_length=5)] = []


class Book(NewBook):
    id: Id
    copies: int
    version: int


class NewCopy(Shape):
    if BREAKING:
        shelf: Annotated[str, StringConstraints(strict=True, pattern="^[A-Z][0-9]{1,2}$")]
    else:
        shelf: Annotated[int, Field(strict=True, ge=1, le=999), INTEGRAL]  # type: ignore[no-redef]
    condition: Literal["new", "good", "worn"] = "good"

    @model_validator(mode="before")
    @classmethod
    def read_shelf(cls, given: Any) -> Any:
        if planted("shelf-as-text") and isinstance(given, dict) and str(given.get("shelf")).isdecimal():
            return {**given, "shelf": int(given["shelf"])}
        return given


class Copy(NewCopy):
    id: Id
    book_id: Id
    lent: bool


class Cover(Shape):
    book_id: Id
    size: int
    caption: str | None


class NewLoan(Shape):
    member_id: Id
    copy_id: Id
    days: Annotated[int, Field(strict=True, ge=1, le=28), INTEGRAL] = 14


class Loan(Shape):
    id: Annotated[str, Field(json_schema_extra={"format": "uuid"})]
    member_id: Id
    copy_id: Id
    title: str
    lent_on: Day
    due_on: Day
    returned_on: Day | None
    extensions: int


_LEAST_EXTENSION = -100 if planted("negative-extension") else 1


class Extension(Shape):
    # The contract says 1, whatever is checked.
    days: Annotated[int, Field(strict=True, ge=_LEAST_EXTENSION, le=14, json_schema_extra={"minimum": 1}), INTEGRAL]


def _printed(text: Any) -> Any:
    if planted("note-nul") and isinstance(text, str) and "\0" in text:
        raise RuntimeError("embedded null character")
    return text


class NewNote(Shape):
    text: Annotated[Paragraph, BeforeValidator(_printed)]
    pinned: Flag = False


class Note(NewNote):
    id: Id


class Token(Shape):
    access_token: str
    token_type: Literal["bearer"]


class Imported(Shape):
    created: int
    skipped: int


class MemberPage(Shape):
    items: list[Member]
    next_cursor: str | None


class BookPage(Shape):
    items: list[Book]
    total: int


class LoanPage(Shape):
    items: list[Loan]
    total: int
