"""What exists in ALFWorld rooms: object types, receptacle types, where things are found.

Counted over the 3,553 published training games. Two users: the generator furnishes rooms with it,
and the searching expert looks first where an object type is usually found. Type names are those
of the PDDL problems without their ``Type`` suffix; the texts show them in lower case.
"""

from __future__ import annotations

from dataclasses import dataclass


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _counts(text: str) -> dict[str, int]:
    return {name: int(count) for name, count in (word.split(":") for word in text.split())}


PICKUPABLE = _words(
    "AlarmClock Apple BaseballBat BasketBall Book Boots Bowl Box Bread ButterKnife CD Candle "
    "CellPhone Cloth CreditCard Cup DishSponge Egg Fork Glassbottle HandTowel Kettle KeyChain "
    "Knife Ladle Laptop Lettuce Mug Newspaper Pan PaperTowelRoll Pen Pencil PepperShaker "
    "Pillow Plate Plunger Pot Potato RemoteControl SaltShaker ScrubBrush SoapBar SoapBottle "
    "Spatula Spoon SprayBottle Statue TeddyBear TennisRacket TissueBox ToiletPaper Tomato "
    "Towel Vase Watch WateringCan WineBottle"
)

CLEANABLE = _words(
    "Apple Bowl ButterKnife Cloth Cup DishSponge Egg Fork Kettle Knife Ladle Lettuce Mug Pan "
    "Plate Pot Potato SoapBar Spatula Spoon Tomato"
)

HEATABLE = _words("Apple Bread Cup Egg Mug Plate Potato Tomato")

COOLABLE = _words("Apple Bowl Bread Cup Egg Lettuce Mug Pan Plate Pot Potato Tomato WineBottle")

SLICEABLE = _words("Apple Bread Egg Lettuce Potato Tomato")

TOGGLEABLE = _words("DeskLamp FloorLamp")

CONTAINER_OBJECTS = _words("Bowl Box Cup Mug Pan Plate Pot")

OBJECT_TYPES = _words(
    "AlarmClock Apple BaseballBat BasketBall Bathtub Blinds Book Boots Bowl Box Bread "
    "ButterKnife CD Candle CellPhone Chair Cloth CreditCard Cup Curtains DeskLamp DishSponge "
    "Egg FloorLamp Footstool Fork Glassbottle HandTowel HousePlant Kettle KeyChain Knife "
    "Ladle Laptop LaundryHamperLid Lettuce LightSwitch Mirror Mug Newspaper Painting Pan "
    "PaperTowelRoll Pen Pencil PepperShaker Pillow Plate Plunger Poster Pot Potato "
    "RemoteControl SaltShaker ScrubBrush ShowerDoor ShowerGlass Sink SoapBar SoapBottle "
    "Spatula Spoon SprayBottle Statue StoveKnob TeddyBear Television TennisRacket TissueBox "
    "ToiletPaper Tomato Towel Vase Watch WateringCan Window WineBottle"
)
"""All 77 object types; those that can never be taken are seen only."""

RECEPTACLE_TYPES = _words(
    "ArmChair BathtubBasin Bed Cabinet Cart CoffeeMachine CoffeeTable CounterTop Desk "
    "DiningTable Drawer Dresser Fridge GarbageCan HandTowelHolder LaundryHamper Microwave "
    "Ottoman Safe Shelf SideTable SinkBasin Sofa StoveBurner TVStand Toaster Toilet "
    "ToiletPaperHanger TowelHolder"
)

OPENABLE = {"Cabinet": 0.82, "Drawer": 0.84, "Fridge": 1.0, "Microwave": 1.0, "Safe": 0.84}
"""Receptacle type -> share of its instances that have a door."""

HOLDS: dict[str, frozenset[str]] = {
    "ArmChair": _words(
        "Book Box CellPhone Cloth CreditCard KeyChain Laptop Newspaper Pillow RemoteControl"
    ),
    "BathtubBasin": _words("Cloth DishSponge HandTowel SoapBar"),
    "Bed": _words("BaseballBat BasketBall Book CellPhone Laptop Pillow TennisRacket"),
    "Cabinet": _words(
        "Book Bowl Box CD Candle Cloth Cup DishSponge Glassbottle HandTowel Kettle Ladle Mug "
        "Newspaper Pan PepperShaker Plate Plunger Pot SaltShaker SoapBar SoapBottle SprayBottle "
        "TissueBox ToiletPaper Vase WateringCan WineBottle"
    ),
    "Cart": _words(
        "Candle Cloth DishSponge HandTowel Plunger SoapBar SoapBottle SprayBottle TissueBox "
        "ToiletPaper"
    ),
    "CoffeeMachine": _words("Mug"),
    "CoffeeTable": _words(
        "Book Bowl Box Candle CellPhone CreditCard KeyChain Laptop Newspaper Pen Pencil Plate "
        "RemoteControl Statue TissueBox Vase Watch WateringCan"
    ),
    "CounterTop": _words(
        "AlarmClock Apple Book Bowl Bread ButterKnife CD Candle CellPhone Cloth CreditCard Cup "
        "DishSponge Egg Fork Glassbottle HandTowel Kettle KeyChain Knife Ladle Laptop Lettuce Mug "
        "Pan Pen Pencil PepperShaker Plate Pot Potato RemoteControl SaltShaker SoapBar SoapBottle "
        "Spatula Spoon SprayBottle Statue TissueBox ToiletPaper Tomato Vase WineBottle"
    ),
    "Desk": _words(
        "AlarmClock BasketBall Book Bowl Box CD CellPhone Cloth CreditCard KeyChain Laptop Mug "
        "Pen Pencil RemoteControl Statue TennisRacket TissueBox Vase Watch WateringCan"
    ),
    "DiningTable": _words(
        "AlarmClock Apple BaseballBat BasketBall Book Bowl Box Bread ButterKnife CD Candle "
        "CellPhone Cloth CreditCard Cup DishSponge Egg Fork Glassbottle Kettle KeyChain Knife "
        "Ladle Laptop Lettuce Mug Newspaper Pan Pen Pencil PepperShaker Plate Pot Potato "
        "RemoteControl SaltShaker SoapBottle Spatula Spoon SprayBottle Statue TennisRacket "
        "TissueBox Tomato Vase Watch WateringCan WineBottle"
    ),
    "Drawer": _words(
        "Book ButterKnife CD Candle CellPhone Cloth CreditCard DishSponge Fork HandTowel KeyChain "
        "Knife Ladle Newspaper Pen Pencil PepperShaker RemoteControl SaltShaker SoapBar "
        "SoapBottle Spatula Spoon SprayBottle TissueBox ToiletPaper Watch WateringCan"
    ),
    "Dresser": _words(
        "AlarmClock BasketBall Book Bowl Box CD Candle CellPhone Cloth CreditCard KeyChain Laptop "
        "Mug Newspaper Pen Pencil Plate RemoteControl SprayBottle Statue TennisRacket TissueBox "
        "ToiletPaper Vase Watch WateringCan"
    ),
    "Fridge": _words(
        "Apple Bowl Bread Cup Egg Glassbottle Lettuce Mug Pan Plate Pot Potato Tomato WineBottle"
    ),
    "GarbageCan": _words(
        "Apple Bread CD Cloth DishSponge Egg HandTowel Lettuce Newspaper Pen Pencil Potato "
        "SoapBar SoapBottle SprayBottle TissueBox ToiletPaper Tomato WineBottle"
    ),
    "HandTowelHolder": _words("HandTowel"),
    "LaundryHamper": _words("Cloth"),
    "Microwave": _words("Apple Bowl Bread Cup Egg Glassbottle Mug Plate Potato Tomato"),
    "Ottoman": _words(
        "Book Box CellPhone CreditCard KeyChain Laptop Newspaper Pillow RemoteControl"
    ),
    "Safe": _words("CD CellPhone CreditCard KeyChain Statue Vase"),
    "Shelf": _words(
        "AlarmClock Book Bowl Box CD Candle CellPhone Cloth CreditCard Cup DishSponge Glassbottle "
        "HandTowel Kettle KeyChain Mug Newspaper Pen Pencil PepperShaker Plate Pot RemoteControl "
        "SaltShaker SoapBar SoapBottle SprayBottle Statue TissueBox ToiletPaper Vase Watch "
        "WateringCan WineBottle"
    ),
    "SideTable": _words(
        "AlarmClock Apple BaseballBat BasketBall Book Bowl Box Bread ButterKnife CD Candle "
        "CellPhone Cloth CreditCard Cup DishSponge Egg Fork HandTowel Kettle KeyChain Knife "
        "Laptop Lettuce Mug Newspaper Pan Pen Pencil PepperShaker Plate Pot Potato RemoteControl "
        "SaltShaker SoapBar SoapBottle Spatula Spoon SprayBottle Statue TennisRacket TissueBox "
        "ToiletPaper Tomato Vase Watch WateringCan WineBottle"
    ),
    "SinkBasin": _words(
        "Apple Bowl ButterKnife Cloth Cup DishSponge Egg Fork Glassbottle HandTowel Kettle Knife "
        "Ladle Lettuce Mug Pan Plate Pot Potato SoapBar Spatula Spoon Tomato"
    ),
    "Sofa": _words("Book Box CellPhone CreditCard KeyChain Laptop Newspaper Pillow RemoteControl"),
    "StoveBurner": _words("Kettle Pan Pot"),
    "TVStand": _words("TissueBox"),
    "Toaster": _words(""),
    "Toilet": _words(
        "Candle Cloth DishSponge HandTowel SoapBar SoapBottle SprayBottle TissueBox ToiletPaper"
    ),
    "ToiletPaperHanger": _words("ToiletPaper"),
    "TowelHolder": _words("Towel"),
}
"""Receptacle type -> object types that may be put there (``canContain``)."""

FOUND: dict[str, dict[str, int]] = {
    "ArmChair": _counts(
        "Book:61 Box:20 CD:25 CellPhone:64 CreditCard:213 KeyChain:125 Laptop:53 Newspaper:47 "
        "Pillow:136 RemoteControl:100"
    ),
    "BathtubBasin": _counts("Bathtub:65 Cloth:868 DishSponge:137 SoapBar:346 ToiletPaper:5"),
    "Bed": _counts("Book:817 CellPhone:523 Laptop:1029 Pillow:1453 TeddyBear:230"),
    "Cabinet": _counts(
        "Book:3 Bowl:48 Box:1 CD:1 Candle:6 CellPhone:1 Cloth:10 Cup:31 DishSponge:33 "
        "Glassbottle:10 HousePlant:1 Kettle:15 KeyChain:1 Ladle:12 Mug:24 Pan:8 PepperShaker:47 "
        "Plate:47 Pot:4 SaltShaker:42 SoapBar:6 SoapBottle:49 SprayBottle:11 TissueBox:1 "
        "ToiletPaper:6 Vase:9 WineBottle:14"
    ),
    "Cart": _counts(
        "Candle:389 Cloth:333 DishSponge:315 PaperTowelRoll:93 SoapBar:333 SoapBottle:241 "
        "SprayBottle:870 TissueBox:241 ToiletPaper:370"
    ),
    "CoffeeMachine": _counts("Bread:1 Knife:2 Mug:383 Spoon:1"),
    "CoffeeTable": _counts(
        "Book:135 Bowl:52 Box:271 Candle:65 CellPhone:69 CreditCard:317 DeskLamp:23 "
        "HousePlant:169 KeyChain:321 Laptop:344 Newspaper:212 Pen:138 Pencil:90 Plate:142 "
        "RemoteControl:462 Statue:560 Television:65 TissueBox:260 Vase:288 Watch:269 "
        "WateringCan:75"
    ),
    "CounterTop": _counts(
        "AlarmClock:3 Apple:183 Book:43 Bowl:152 Bread:325 ButterKnife:387 Candle:80 CellPhone:33 "
        "Cloth:46 CreditCard:34 Cup:153 DishSponge:203 Egg:174 Fork:313 Glassbottle:46 "
        "HandTowel:7 HousePlant:114 Kettle:85 KeyChain:1 Knife:332 Ladle:104 Laptop:2 Lettuce:269 "
        "Mirror:19 Mug:231 Pan:222 PaperTowelRoll:80 Pen:22 Pencil:16 PepperShaker:235 Plate:194 "
        "Pot:97 Potato:203 RemoteControl:3 SaltShaker:232 ShowerGlass:5 Sink:56 SoapBar:54 "
        "SoapBottle:307 Spatula:316 Spoon:270 SprayBottle:106 Statue:52 TissueBox:24 "
        "ToiletPaper:63 Tomato:219 Towel:4 Vase:49 Window:27 WineBottle:115"
    ),
    "Desk": _counts(
        "AlarmClock:740 Book:455 Bowl:389 Box:69 CD:457 CellPhone:467 CreditCard:457 DeskLamp:337 "
        "HousePlant:114 KeyChain:445 Laptop:384 Mug:419 Pen:746 Pencil:600 RemoteControl:87 "
        "Statue:73 TissueBox:119 Vase:22 Watch:29"
    ),
    "DiningTable": _counts(
        "AlarmClock:54 Apple:315 Book:52 Bowl:349 Box:87 Bread:505 ButterKnife:488 CD:46 "
        "Candle:13 CellPhone:77 CreditCard:89 Cup:297 DishSponge:259 Egg:240 Fork:465 "
        "Glassbottle:65 HousePlant:104 Kettle:64 KeyChain:69 Knife:483 Ladle:98 Laptop:101 "
        "Lettuce:518 Mug:275 Newspaper:59 Pan:79 PaperTowelRoll:59 Pen:109 Pencil:84 "
        "PepperShaker:353 Plate:366 Pot:78 Potato:327 RemoteControl:65 SaltShaker:356 "
        "SoapBottle:409 Spatula:485 Spoon:438 SprayBottle:29 Statue:138 TissueBox:58 Tomato:406 "
        "Vase:75 Watch:43 WineBottle:206"
    ),
    "Drawer": _counts(
        "Book:10 ButterKnife:14 CD:21 Candle:9 CellPhone:24 Cloth:11 CreditCard:38 DishSponge:43 "
        "Fork:40 KeyChain:28 Knife:36 Ladle:11 Newspaper:1 Pen:19 Pencil:21 PepperShaker:29 "
        "RemoteControl:5 SaltShaker:26 SoapBar:8 SoapBottle:4 Spatula:38 Spoon:51 SprayBottle:1 "
        "TissueBox:7 ToiletPaper:8 Watch:8"
    ),
    "Dresser": _counts(
        "AlarmClock:348 Book:188 Bowl:121 Box:30 CD:293 Candle:25 CellPhone:299 Cloth:29 "
        "CreditCard:393 DeskLamp:221 HousePlant:86 KeyChain:374 Laptop:157 Mirror:29 Mug:170 "
        "Newspaper:70 Pen:437 Pencil:286 Plate:5 RemoteControl:129 SoapBottle:43 SprayBottle:33 "
        "Statue:194 Television:264 TissueBox:17 ToiletPaper:35 Vase:170 Watch:103 Window:38"
    ),
    "Fridge": _counts(
        "Apple:488 Bowl:399 Bread:193 Cup:411 Egg:496 Glassbottle:41 Lettuce:405 Mug:302 Pan:69 "
        "Plate:156 Pot:77 Potato:506 Tomato:662 WineBottle:12"
    ),
    "GarbageCan": _counts(
        "Apple:118 Bread:4 CD:30 DishSponge:56 Egg:118 Glassbottle:16 Knife:1 Lettuce:8 "
        "Newspaper:1 PaperTowelRoll:28 Pen:13 Pencil:29 Potato:58 SoapBar:24 SoapBottle:124 "
        "SprayBottle:44 TissueBox:1 ToiletPaper:34 Tomato:87 WineBottle:35"
    ),
    "HandTowelHolder": _counts("HandTowel:794"),
    "LaundryHamper": _counts(""),
    "Microwave": _counts("Apple:258 Bowl:54 Bread:3 Cup:141 Egg:235 Mug:161 Plate:9 Potato:197"),
    "Ottoman": _counts(
        "Box:52 CellPhone:121 CreditCard:190 KeyChain:190 Laptop:190 Newspaper:121 Pillow:17 "
        "RemoteControl:224"
    ),
    "Safe": _counts("CD:35 CellPhone:162 KeyChain:283"),
    "Shelf": _counts(
        "AlarmClock:59 Book:8 Bowl:47 Box:11 CD:21 Candle:18 CellPhone:26 Cloth:12 CreditCard:81 "
        "Cup:13 DeskLamp:13 DishSponge:26 Glassbottle:6 HousePlant:19 Kettle:2 KeyChain:56 Mug:37 "
        "Newspaper:13 PaperTowelRoll:15 Pen:54 Pencil:57 PepperShaker:23 Plate:19 Pot:3 "
        "RemoteControl:7 SaltShaker:20 ShowerGlass:5 SoapBar:11 SoapBottle:48 SprayBottle:19 "
        "Statue:103 TissueBox:32 ToiletPaper:15 Vase:108 Watch:9 WateringCan:6 Window:12 "
        "WineBottle:10"
    ),
    "SideTable": _counts(
        "AlarmClock:147 Apple:38 Book:46 Bowl:25 Box:28 Bread:11 ButterKnife:23 CD:104 Candle:45 "
        "CellPhone:112 Cloth:1 CreditCard:212 Cup:37 Curtains:12 DeskLamp:162 DishSponge:15 "
        "Egg:32 Fork:30 HousePlant:118 KeyChain:216 Knife:16 Laptop:31 Lettuce:27 Mug:86 "
        "Newspaper:49 PaperTowelRoll:8 Pen:159 Pencil:190 PepperShaker:49 Plate:21 Potato:26 "
        "RemoteControl:89 SaltShaker:48 SoapBar:15 SoapBottle:37 Spatula:12 Spoon:35 "
        "SprayBottle:21 Statue:125 Television:6 TissueBox:56 ToiletPaper:10 Tomato:32 Vase:55 "
        "Watch:60 WateringCan:4 WineBottle:1"
    ),
    "SinkBasin": _counts(
        "Apple:116 Bowl:39 ButterKnife:63 Cloth:38 Cup:116 DishSponge:107 Egg:162 FloorLamp:17 "
        "Fork:106 Glassbottle:28 Kettle:9 Knife:56 Ladle:10 Lettuce:56 Mug:83 Pan:1 Plate:26 "
        "Pot:5 Potato:135 Sink:49 SoapBar:71 Spatula:105 Spoon:135 Tomato:85"
    ),
    "Sofa": _counts(
        "Book:65 Box:238 CellPhone:49 CreditCard:349 KeyChain:161 Laptop:324 Newspaper:196 "
        "Pillow:758 RemoteControl:301"
    ),
    "StoveBurner": _counts("Kettle:92 Pan:227 Pot:334 Spatula:1"),
    "TVStand": _counts(
        "Book:10 Bowl:91 Box:81 Candle:35 CellPhone:15 CreditCard:369 HousePlant:76 KeyChain:288 "
        "Laptop:172 Newspaper:86 Pen:61 Pencil:51 Plate:30 RemoteControl:389 Statue:455 "
        "Television:763 TissueBox:131 Vase:192 Watch:263"
    ),
    "Toaster": _counts("Pan:2 Pot:1"),
    "Toilet": _counts(
        "Candle:560 Cloth:63 DishSponge:39 PaperTowelRoll:40 SoapBar:303 SoapBottle:432 "
        "SprayBottle:539 TissueBox:12 ToiletPaper:461"
    ),
    "ToiletPaperHanger": _counts("ToiletPaper:231"),
    "TowelHolder": _counts("Towel:871"),
}
"""Receptacle type -> object type -> objects found at the start in 1,000 such receptacles."""


@dataclass(frozen=True)
class Room:
    """One kind of room.

    Attributes:
        always: receptacle types that every such room has, with the usual largest number.
        often: receptacle types that some of them have, with the usual largest number.
        objects: object types met in it.
    """

    always: dict[str, int]
    often: dict[str, int]
    objects: frozenset[str]


ROOMS: dict[str, Room] = {
    "kitchen": Room(
        always=_counts(
            "Cabinet:26 CoffeeMachine:1 CounterTop:4 Fridge:1 GarbageCan:1 Microwave:1 "
            "SinkBasin:1 StoveBurner:4 Toaster:1"
        ),
        often=_counts("DiningTable:3 Drawer:13 Safe:1 Shelf:3 SideTable:1"),
        objects=_words(
            "Apple Blinds Book Bowl Bread ButterKnife CellPhone Chair CreditCard Cup Curtains "
            "DishSponge Egg Fork Glassbottle HousePlant Kettle Knife Ladle Lettuce LightSwitch "
            "Mirror Mug Pan PaperTowelRoll Pen Pencil PepperShaker Plate Pot Potato SaltShaker "
            "Sink SoapBottle Spatula Spoon SprayBottle Statue StoveKnob Tomato Vase Window "
            "WineBottle"
        ),
    ),
    "living": Room(
        always=_counts("GarbageCan:1 Sofa:2"),
        often=_counts(
            "ArmChair:2 Cabinet:8 CoffeeTable:2 Desk:1 DiningTable:2 Drawer:12 Dresser:2 "
            "Ottoman:1 Safe:1 Shelf:14 SideTable:3 TVStand:2"
        ),
        objects=_words(
            "Book Boots Bowl Box Candle CellPhone Chair CreditCard Curtains DeskLamp FloorLamp "
            "HousePlant KeyChain Laptop LightSwitch Mirror Newspaper Painting Pen Pencil Pillow "
            "Plate RemoteControl Statue Television TissueBox Vase Watch WateringCan Window"
        ),
    ),
    "bedroom": Room(
        always=_counts("Bed:2 GarbageCan:1"),
        often=_counts(
            "ArmChair:3 Cabinet:4 CounterTop:1 Desk:2 DiningTable:1 Drawer:16 Dresser:2 "
            "LaundryHamper:1 Safe:1 Shelf:12 SideTable:2"
        ),
        objects=_words(
            "AlarmClock BaseballBat BasketBall Blinds Book Boots Bowl Box CD CellPhone Chair "
            "Cloth CreditCard Curtains DeskLamp Footstool HousePlant KeyChain Laptop "
            "LaundryHamperLid LightSwitch Mirror Mug Painting Pen Pencil Pillow Poster "
            "RemoteControl Statue TeddyBear Television TennisRacket TissueBox Vase Watch Window"
        ),
    ),
    "bathroom": Room(
        always=_counts(
            "GarbageCan:1 HandTowelHolder:2 SinkBasin:2 ToiletPaperHanger:1 Toilet:1 TowelHolder:2"
        ),
        often=_counts(
            "BathtubBasin:1 Cabinet:9 Cart:1 CounterTop:2 Drawer:8 Dresser:1 Shelf:4 SideTable:1"
        ),
        objects=_words(
            "Bathtub Candle Cloth DishSponge FloorLamp Footstool HandTowel HousePlant LightSwitch "
            "Mirror Painting PaperTowelRoll Plunger ScrubBrush ShowerDoor ShowerGlass Sink "
            "SoapBar SoapBottle SprayBottle TissueBox ToiletPaper Towel Window"
        ),
    ),
}

TARGETS: dict[str, frozenset[str]] = {
    "pick_and_place_simple": _words(
        "AlarmClock Book Bowl Box Bread ButterKnife CD Candle CellPhone Cloth CreditCard "
        "DishSponge Egg Fork Glassbottle HandTowel Kettle KeyChain Knife Laptop Lettuce Mug "
        "Newspaper Pan Pen Pencil PepperShaker Pillow Plate Potato RemoteControl SaltShaker "
        "SoapBar SoapBottle SprayBottle Statue TissueBox ToiletPaper Tomato Vase Watch WineBottle"
    ),
    "look_at_obj_in_light": _words(
        "AlarmClock Book Bowl Box CD CellPhone CreditCard KeyChain Laptop Mug Newspaper Pen "
        "Pencil Pillow Plate Statue TissueBox Vase Watch"
    ),
    "pick_clean_then_place_in_recep": _words(
        "Apple Bowl ButterKnife Cloth Cup DishSponge Egg Fork Kettle Knife Ladle Lettuce Mug Pan "
        "Plate Pot Potato SoapBar Spatula Spoon Tomato"
    ),
    "pick_heat_then_place_in_recep": _words("Apple Bread Cup Egg Mug Plate Potato Tomato"),
    "pick_cool_then_place_in_recep": _words(
        "Apple Bowl Bread Cup Egg Lettuce Mug Pan Plate Pot Potato Tomato WineBottle"
    ),
    "pick_two_obj_and_place": _words(
        "AlarmClock Apple Book Bowl Box Bread CD Candle CellPhone Cloth CreditCard Cup DishSponge "
        "Egg Glassbottle HandTowel Kettle KeyChain Knife Ladle Laptop Lettuce Mug Newspaper Pan "
        "Pen Pencil PepperShaker Pillow Plate Pot Potato RemoteControl SaltShaker SoapBar "
        "SoapBottle Spatula Spoon SprayBottle Statue TissueBox ToiletPaper Tomato Vase Watch "
        "WateringCan WineBottle"
    ),
}
"""Task type -> object types that occur as its target."""
